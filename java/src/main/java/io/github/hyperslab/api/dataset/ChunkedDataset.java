package io.github.hyperslab.api.dataset;

import io.github.hyperslab.api.Dataset;

import java.nio.ByteBuffer;

/** A dataset in chunks. */
public interface ChunkedDataset extends Dataset {
    /**
     * Returns the shape of a chunk.
     *
     * @return the number of elements in each dimension
     */
    int[] getChunkDimensions();

    /**
     * Reads a chunk as it is stored, filters not undone.
     *
     * @param chunkOffset the first element of the chunk in each dimension
     * @return the stored bytes
     * @throws io.github.hyperslab.exceptions.HdfException if no chunk begins there, or it was never
     *     written
     */
    ByteBuffer getRawChunkBuffer(int[] chunkOffset);

    /**
     * Reads a chunk with its filters undone.
     *
     * @param chunkOffset the first element of the chunk in each dimension
     * @return the bytes of the elements in the file's datatype; elements beyond the dataset are
     *     zeros, whatever is stored there
     * @throws io.github.hyperslab.exceptions.HdfException if no chunk begins there
     */
    byte[] getDecompressedChunk(int[] chunkOffset);
}
