package io.github.hyperslab;

import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.NodeType;
import io.github.hyperslab.api.WritableDataset;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.InvalidSliceHdfException;
import io.github.hyperslab.filter.PipelineFilterWithData;
import io.github.hyperslab.internal.ArrayInfo;
import io.github.hyperslab.internal.Datasets;
import io.github.hyperslab.internal.MemoryType;
import io.github.hyperslab.internal.NativeDataset;
import io.github.hyperslab.internal.Reader;
import io.github.hyperslab.internal.Scratch;
import io.github.hyperslab.object.datatype.CompoundDataType;
import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.datatype.VariableLength;
import io.github.hyperslab.object.message.DataLayout;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * A dataset. What it is like is read when it is first needed, and again after a change of its
 * dimensions.
 */
class DatasetNode extends AbstractNode implements WritableDataset, NativeDataset {
    private final Datasets datasets;
    private volatile ArrayInfo info;
    private volatile DataType type;

    DatasetNode(
            HdfFile file,
            Group parent,
            String name,
            String location,
            long address,
            Datasets datasets,
            ArrayInfo info) {
        super(file, parent, name, location, address);
        this.datasets = datasets;
        this.info = info;
    }

    /** Returns the node of a dataset, of the interface of its layout. */
    static DatasetNode of(HdfFile file, Group parent, String name, String location, long address) {
        Datasets datasets = new Datasets(file.nativeFile(), location);
        ArrayInfo info;
        try {
            info = datasets.info(false);
        } catch (HdfException error) {
            // A damaged dataset must not hide its neighbours: its own calls fail.
            return new DatasetNode(file, parent, name, location, address, datasets, null);
        }
        return switch (info.layout()) {
            case ArrayInfo.CHUNKED ->
                    new ChunkedNode(file, parent, name, location, address, datasets, info);
            case ArrayInfo.CONTIGUOUS ->
                    new ContiguousNode(file, parent, name, location, address, datasets, info);
            default -> new DatasetNode(file, parent, name, location, address, datasets, info);
        };
    }

    /**
     * Closes the native dataset, which the next call opens again: a list of a group would keep all
     * open.
     */
    void release() {
        datasets.release();
    }

    @Override
    public Datasets datasets() {
        return datasets;
    }

    @Override
    public ArrayInfo info() {
        ArrayInfo found = info;
        if (found == null || getHdfFile().isWritable()) {
            found = datasets.info(false);
            info = found;
        }
        return found;
    }

    @Override
    public DataType getDataType() {
        DataType found = type;
        if (found == null) {
            found = DataType.of(datasets.type());
            type = found;
        }
        return found;
    }

    @Override
    public NodeType getType() {
        return NodeType.DATASET;
    }

    @Override
    public long getSize() {
        return info().elements();
    }

    @Override
    public long getSizeInBytes() {
        return Math.multiplyExact(info().elements(), (long) info().elementSize());
    }

    @Override
    public long getStorageInBytes() {
        return datasets.info(true).storageBytes();
    }

    @Override
    public int[] getDimensions() {
        return toInts(info().shape());
    }

    @Override
    public long[] getDimensionsAsLong() {
        return info().shape().clone();
    }

    @Override
    public long[] getMaxSize() {
        return info().maxShape().clone();
    }

    @Override
    public boolean isScalar() {
        return info().shape().length == 0 && info().space() != ArrayInfo.NULL;
    }

    @Override
    public boolean isEmpty() {
        return info().elements() == 0;
    }

    @Override
    public boolean isCompound() {
        return getDataType() instanceof CompoundDataType;
    }

    @Override
    public boolean isVariableLength() {
        return getDataType() instanceof VariableLength;
    }

    @Override
    public DataLayout getDataLayout() {
        return switch (info().layout()) {
            case 1 -> DataLayout.COMPACT;
            case ArrayInfo.CHUNKED -> DataLayout.CHUNKED;
            case 4 -> DataLayout.VIRTUAL;
            default -> DataLayout.CONTIGUOUS;
        };
    }

    @Override
    public Class<?> getJavaType() {
        Class<?> found = getDataType().getJavaType();
        return isScalar() ? boxed(found) : found;
    }

    private Reader reader() {
        return new Reader(datasets, nativeFile(), getDataType(), info());
    }

    @Override
    public Object getData() {
        return datasets.reading(this::all);
    }

    private Object all() {
        if (isEmpty()) {
            return null;
        }
        long[] shape = info().shape();
        return shape.length == 0
                ? reader().scalar()
                : reader().box(new long[shape.length], arrayDimensions(shape, toString()));
    }

    @Override
    public Object getDataFlat() {
        return datasets.reading(this::allFlat);
    }

    private Object allFlat() {
        if (isEmpty()) {
            return new Object[0];
        }
        long[] shape = info().shape();
        return reader().flat(new long[shape.length], arrayDimensions(shape, toString()));
    }

    @Override
    public Object getData(long[] sliceOffset, int[] sliceDimensions) {
        return datasets.reading(() -> slice(sliceOffset, sliceDimensions));
    }

    private Object slice(long[] sliceOffset, int[] sliceDimensions) {
        if (isEmpty() || isScalar()) {
            throw new HdfException(
                    "'"
                            + getPath()
                            + "' has no slices: it is "
                            + (isEmpty() ? "empty" : "a scalar"));
        }
        checkSlice(sliceOffset, sliceDimensions);
        return reader().box(sliceOffset.clone(), sliceDimensions.clone());
    }

    private void checkSlice(long[] offset, int[] dimensions) {
        long[] shape = info().shape();
        if (offset.length != shape.length || dimensions.length != shape.length) {
            throw new InvalidSliceHdfException(
                    "the slice has another number of dimensions", offset, dimensions, shape);
        }
        for (int i = 0; i < shape.length; i++) {
            if (offset[i] < 0 || dimensions[i] <= 0 || offset[i] > shape[i] - dimensions[i]) {
                throw new InvalidSliceHdfException(
                        "the slice is not within dimension " + i, offset, dimensions, shape);
            }
        }
    }

    @Override
    public Object getFillValue() {
        if (!info().isFillDefined()) {
            return null;
        }
        MemoryType memory = Reader.memoryType(getDataType());
        int size = memory.size(info().elementSize());
        try (Scratch scratch = Scratch.of(size)) {
            ByteBuffer bytes = scratch.memory();
            datasets.fillValue(memory, bytes, size);
            return Reader.decode(getDataType(), memory, nativeFile(), bytes, new int[0]);
        }
    }

    @Override
    public List<PipelineFilterWithData> getFilters() {
        return datasets.filters();
    }

    @Override
    public void read(Selection selection, ByteBuffer into) {
        read(selection, MemoryType.NATIVE, into);
    }

    @Override
    public void read(Selection selection, Class<?> type, ByteBuffer into) {
        read(selection, NativeDataset.memoryType(type), into);
    }

    private void read(Selection selection, MemoryType memory, ByteBuffer into) {
        if (into.isReadOnly()) {
            throw new HdfException("the buffer is read-only");
        }
        int bytes = datasets.reading(() -> fill(selection, memory, into));
        into.position(into.position() + bytes);
    }

    /** Reads to a buffer from its position on, and returns the number of bytes. */
    private int fill(Selection selection, MemoryType memory, ByteBuffer into) {
        int bytes = (int) checkRoom(selection, memory, into.remaining());
        if (into.isDirect()) {
            datasets.read(selection, memory, into.slice(), bytes);
        } else {
            try (Scratch scratch = Scratch.of(bytes)) {
                datasets.read(selection, memory, scratch.memory(), bytes);
                into.put(into.position(), scratch.memory(), 0, bytes);
            }
        }
        return bytes;
    }

    @Override
    public void write(Selection selection, ByteBuffer elements) {
        int bytes = datasets.reading(() -> take(selection, elements));
        elements.position(elements.position() + bytes);
    }

    /** Writes from a buffer from its position on, and returns the number of bytes. */
    private int take(Selection selection, ByteBuffer elements) {
        int bytes = (int) checkRoom(selection, MemoryType.NATIVE, elements.remaining());
        if (elements.isDirect()) {
            datasets.write(selection, MemoryType.NATIVE, elements.slice(), bytes, null);
        } else {
            try (Scratch scratch = Scratch.of(bytes)) {
                ByteBuffer part = elements.duplicate().limit(elements.position() + bytes);
                datasets.write(
                        selection,
                        MemoryType.NATIVE,
                        scratch.memory().put(part).clear(),
                        bytes,
                        null);
            }
        }
        return bytes;
    }

    @Override
    public void write(long[] offset, Object data) {
        ArrayData elements = ArrayData.of(data, false);
        int[] dimensions = toInts(elements.shape());
        datasets.reading(
                () -> {
                    checkSlice(offset, dimensions);
                    elements.write(datasets, offset, info().chunk());
                    return null;
                });
    }

    @Override
    public void resize(long... dimensions) {
        datasets.resize(dimensions);
    }
}
