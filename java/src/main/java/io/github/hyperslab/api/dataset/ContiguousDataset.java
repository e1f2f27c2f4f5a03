package io.github.hyperslab.api.dataset;

import io.github.hyperslab.api.Dataset;

import java.nio.ByteBuffer;

/** A dataset in one range of bytes. */
public interface ContiguousDataset extends Dataset {
    /**
     * Reads the bytes of the elements as the file has them.
     *
     * @return the bytes, in the byte order of the datatype
     */
    ByteBuffer getBuffer();
}
