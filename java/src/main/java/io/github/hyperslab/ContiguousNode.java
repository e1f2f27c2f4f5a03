package io.github.hyperslab;

import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.dataset.ContiguousDataset;
import io.github.hyperslab.internal.ArrayInfo;
import io.github.hyperslab.internal.Datasets;
import io.github.hyperslab.internal.MemoryType;

import java.nio.ByteBuffer;

/** A dataset in one range of bytes. */
final class ContiguousNode extends DatasetNode implements ContiguousDataset {
    ContiguousNode(
            HdfFile file,
            Group parent,
            String name,
            String location,
            long address,
            Datasets datasets,
            ArrayInfo info) {
        super(file, parent, name, location, address, datasets, info);
    }

    @Override
    public ByteBuffer getBuffer() {
        return datasets().reading(this::stored);
    }

    private ByteBuffer stored() {
        int size = bufferSize(getSizeInBytes(), toString());
        ByteBuffer bytes = ByteBuffer.allocateDirect(size).order(order(getDataType()));
        datasets().read(null, MemoryType.STORED, bytes, size);
        return bytes;
    }
}
