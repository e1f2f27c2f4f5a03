package io.github.hyperslab;

import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.dataset.ChunkedDataset;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.internal.ArrayInfo;
import io.github.hyperslab.internal.Datasets;
import io.github.hyperslab.internal.MemoryType;
import io.github.hyperslab.internal.Scratch;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A dataset in chunks. */
final class ChunkedNode extends DatasetNode implements ChunkedDataset {
    ChunkedNode(
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
    public int[] getChunkDimensions() {
        return toInts(info().chunk());
    }

    @Override
    public ByteBuffer getRawChunkBuffer(int[] chunkOffset) {
        byte[] stored = datasets().reading(() -> datasets().chunk(first(chunkOffset)));
        if (stored == null) {
            throw new HdfException(
                    "the chunk at "
                            + Arrays.toString(chunkOffset)
                            + " of '"
                            + getPath()
                            + "' was never written");
        }
        return ByteBuffer.wrap(stored);
    }

    @Override
    public byte[] getDecompressedChunk(int[] chunkOffset) {
        return datasets().reading(() -> decompressed(chunkOffset));
    }

    private byte[] decompressed(int[] chunkOffset) {
        long[] first = first(chunkOffset);
        ArrayInfo info = info();
        long[] count = new long[first.length];
        long[] strides = new long[first.length];
        long size = info.elementSize();
        boolean isWhole = true;
        for (int i = first.length - 1; i >= 0; i--) {
            count[i] = Math.min(info.chunk()[i], info.shape()[i] - first[i]);
            isWhole &= count[i] == info.chunk()[i];
            strides[i] = size;
            size = Math.multiplyExact(size, info.chunk()[i]);
        }
        byte[] bytes = new byte[bufferSize(size, "a chunk of '" + getPath() + "'")];
        try (Scratch scratch = Scratch.of(bytes.length)) {
            ByteBuffer out = scratch.memory();
            if (!isWhole) {
                out.put(0, bytes); // Zeros where the dataset has no elements.
            }
            datasets().read(Selection.box(first, count), MemoryType.STORED, out, size, strides);
            out.get(0, bytes);
        }
        return bytes;
    }

    private long[] first(int[] offset) {
        ArrayInfo info = info();
        boolean isChunk = offset.length == info.shape().length;
        for (int i = 0; isChunk && i < offset.length; i++) {
            isChunk =
                    offset[i] >= 0
                            && offset[i] < info.shape()[i]
                            && offset[i] % info.chunk()[i] == 0;
        }
        if (!isChunk) {
            throw new HdfException(
                    "no chunk of '" + getPath() + "' begins at " + Arrays.toString(offset));
        }
        return Arrays.stream(offset).asLongStream().toArray();
    }
}
