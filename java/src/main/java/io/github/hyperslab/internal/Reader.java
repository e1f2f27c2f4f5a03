package io.github.hyperslab.internal;

import io.github.hyperslab.Selection;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.datatype.FixedPoint;
import io.github.hyperslab.object.datatype.FloatingPoint;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Reads boxes of a dataset into arrays of Java.
 *
 * <p>The native library converts numbers on its threads, and elements then need only a copy; other
 * elements come as they are stored. A large box is read in parts, of whole layers of chunks where
 * these are not too large, so that no chunk is decoded twice.
 */
public final class Reader {
    /** The most bytes that one buffer has. */
    private static final int LARGEST = 1 << 30;

    private final Datasets dataset;
    private final NativeFile file;
    private final DataType type;
    private final long[] chunk;
    private final MemoryType memoryType;
    private final int size;

    /**
     * Creates a reader.
     *
     * @param dataset the dataset
     * @param file its file
     * @param type its datatype
     * @param info its properties
     */
    public Reader(Datasets dataset, NativeFile file, DataType type, ArrayInfo info) {
        this.dataset = dataset;
        this.file = file;
        this.type = type;
        chunk = info.chunk();
        memoryType = memoryType(type);
        size = memoryType.size(type.getSize());
    }

    /**
     * Reads the only element of a dataset without dimensions.
     *
     * @return the element
     */
    public Object scalar() {
        Target target = target(type, memoryType, new int[] {1}, file);
        try (Scratch scratch = Scratch.of(size)) {
            dataset.read(null, memoryType, scratch.memory(), size);
            target.fillAll(1, scratch.memory(), 0);
        }
        return target.scalar();
    }

    /**
     * Reads a box into an array of as many dimensions.
     *
     * @param start the first element in each dimension
     * @param dims the number of elements in each dimension, at least one dimension
     * @return the elements
     */
    public Object box(long[] start, int[] dims) {
        Target target = target(type, memoryType, dims, file);
        read(target, start, dims, false, Target.WHOLE);
        return target.result();
    }

    /**
     * Reads a box into an array of one dimension.
     *
     * @param start the first element in each dimension
     * @param dims the number of elements in each dimension, none for a scalar
     * @return the elements in C order
     */
    public Object flat(long[] start, int[] dims) {
        int elements = 1;
        try {
            for (int length : dims) {
                elements = Math.multiplyExact(elements, length);
            }
        } catch (ArithmeticException error) {
            throw new HdfException(
                    "more elements than an array of Java can have: read parts by getData(long[], int[])",
                    error);
        }
        Target target = target(type, memoryType, new int[] {elements}, file);
        if (dims.length == 0) {
            try (Scratch scratch = Scratch.of(size)) {
                dataset.read(null, memoryType, scratch.memory(), size);
                target.fillAll(1, scratch.memory(), 0);
            }
        } else {
            read(target, start, dims, true, Target.WHOLE);
        }
        return target.result();
    }

    private static Target target(
            DataType type, MemoryType memoryType, int[] dims, NativeFile file) {
        Leaf leaf = memoryType.leaf();
        long[] strides = strides(dims, memoryType.size(type.getSize()));
        return leaf == null ? Target.of(type, dims, strides, file) : Target.of(leaf, dims, strides);
    }

    /** Reads the box whose first indexes are `at`, along the next dimension. */
    private void read(Target target, long[] start, int[] dims, boolean isFlat, int[] at) {
        int axis = at.length;
        long rowBytes = size;
        long rowElements = 1;
        for (int i = axis + 1; i < dims.length; i++) {
            rowBytes = saturated(rowBytes, dims[i]);
            rowElements = saturated(rowElements, dims[i]);
        }
        if (rowBytes > LARGEST && axis + 1 < dims.length) {
            int[] next = Arrays.copyOf(at, axis + 1);
            for (next[axis] = 0; next[axis] < dims[axis]; next[axis]++) {
                read(target, start, dims, isFlat, next.clone());
            }
            return;
        }
        if (rowBytes > LARGEST) {
            throw new HdfException("an element of " + rowBytes + " bytes is too large");
        }
        long[] from = start.clone();
        long[] count = new long[dims.length];
        for (int i = 0; i < dims.length; i++) {
            from[i] += i < axis ? at[i] : 0;
            count[i] = i < axis ? 1 : dims[i];
        }
        for (int row = 0; row < dims[axis]; ) {
            int rows = rows(start[axis] + row, dims[axis] - row, rowBytes, axis);
            from[axis] = start[axis] + row;
            count[axis] = rows;
            int bytes = (int) (rows * rowBytes);
            try (Scratch scratch = Scratch.of(bytes)) {
                ByteBuffer memory = scratch.memory();
                dataset.read(Selection.box(from, count), memoryType, memory, bytes);
                if (isFlat) {
                    int first = index(at, row, dims);
                    target.fill(Target.WHOLE, first, (int) (rows * rowElements), memory, 0);
                } else {
                    target.fill(at, row, rows, memory, 0);
                }
            }
            row += rows;
        }
    }

    /** Returns the number of rows of the next part, from the row `first` of the dataset on. */
    private int rows(long first, int left, long rowBytes, int axis) {
        long layer = axis < chunk.length ? Math.max(chunk[axis], 1) : 1;
        long rows = Math.max(1, Scratch.PART / Math.max(rowBytes, 1));
        if (rows < layer && layer * rowBytes <= LARGEST) {
            rows = layer;
        }
        long end = first + rows;
        long whole = end - end % layer;
        return (int) Math.min(left, whole > first ? whole - first : rows);
    }

    /** Returns the number in C order of the first element of a row. */
    private static int index(int[] at, int row, int[] dims) {
        long index = 0;
        for (int i = 0; i < dims.length; i++) {
            index = index * dims[i] + (i < at.length ? at[i] : i == at.length ? row : 0);
        }
        return (int) index;
    }

    /**
     * Returns the bytes from one element to the next along each dimension of an array without gaps.
     */
    private static long[] strides(int[] dims, int size) {
        long[] strides = new long[dims.length];
        long stride = size;
        for (int i = dims.length - 1; i >= 0; i--) {
            strides[i] = stride;
            stride = saturated(stride, dims[i]);
        }
        return strides;
    }

    private static long saturated(long a, long b) {
        long high = Math.multiplyHigh(a, b);
        long low = a * b;
        return high != 0 || low < 0 ? Long.MAX_VALUE : low;
    }

    /**
     * Returns the type in memory of elements that go to arrays of Java: the native library converts
     * numbers, also those that are not of IEEE 754.
     *
     * @param type their datatype in the file
     * @return the type
     */
    public static MemoryType memoryType(DataType type) {
        if (!(type instanceof FixedPoint || type instanceof FloatingPoint)) {
            return MemoryType.STORED;
        }
        return MemoryType.of(type.getJavaType());
    }

    /**
     * Decodes elements that are in memory.
     *
     * @param type their datatype
     * @param memoryType their type in memory, as {@link #memoryType} says
     * @param file the file that has data of variable length
     * @param bytes the elements
     * @param dims the dimensions, none for a scalar
     * @return the elements
     */
    public static Object decode(
            DataType type, MemoryType memoryType, NativeFile file, ByteBuffer bytes, int[] dims) {
        int[] all = dims.length == 0 ? new int[] {1} : dims;
        Target target = target(type, memoryType, all, file);
        target.fillAll(all[0], bytes, 0);
        return dims.length == 0 ? target.scalar() : target.result();
    }
}
