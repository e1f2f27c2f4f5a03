package io.github.hyperslab;

import io.github.hyperslab.api.DatasetCreationOptions;
import io.github.hyperslab.exceptions.HdfWritingException;
import io.github.hyperslab.internal.Datasets;
import io.github.hyperslab.internal.MemoryType;
import io.github.hyperslab.internal.NativeFile;
import io.github.hyperslab.internal.Objects;
import io.github.hyperslab.internal.Scratch;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Elements of Java that are written: an array of any number of dimensions, or one value. */
final class ArrayData {
    private final Object data;
    private final ElementType type;
    private final long[] shape;

    private ArrayData(Object data, ElementType type, long[] shape) {
        this.data = data;
        this.type = type;
        this.shape = shape;
    }

    /** Examines a value. Every array in it must be as long as its neighbours. */
    static ArrayData of(Object data, boolean unsigned) {
        if (data == null) {
            throw new HdfWritingException("null cannot be written");
        }
        List<Long> shape = new ArrayList<>();
        Class<?> component = data.getClass();
        Object first = data;
        while (component.isArray()) {
            int length = first == null ? 0 : Array.getLength(first);
            shape.add((long) length);
            component = component.getComponentType();
            first = length == 0 || component.isPrimitive() ? null : Array.get(first, 0);
        }
        long[] dimensions = shape.stream().mapToLong(Long::longValue).toArray();
        checkRegular(data, dimensions, 0);
        int longest = component == String.class ? longest(data) : 0;
        return new ArrayData(data, ElementType.of(component, unsigned, longest), dimensions);
    }

    /** Describes elements that are written later. */
    static ArrayData empty(Class<?> component, long[] dimensions, boolean unsigned) {
        if (component == String.class) {
            throw new HdfWritingException(
                    "the length of strings is not known before they are written");
        }
        return new ArrayData(null, ElementType.of(component, unsigned, 0), dimensions.clone());
    }

    private static void checkRegular(Object data, long[] shape, int axis) {
        if (axis == shape.length) {
            if (data == null) {
                throw new HdfWritingException("an element is null");
            }
            return;
        }
        if (data == null || Array.getLength(data) != shape[axis]) {
            throw new HdfWritingException(
                    "the arrays of dimension "
                            + axis
                            + " differ in length: only regular arrays"
                            + " can be written");
        }
        if (!data.getClass().getComponentType().isPrimitive()) {
            for (Object element : (Object[]) data) {
                checkRegular(element, shape, axis + 1);
            }
        }
    }

    private static int longest(Object data) {
        if (data instanceof String text) {
            return text.getBytes(StandardCharsets.UTF_8).length;
        }
        int longest = 0;
        for (Object element : (Object[]) data) {
            longest = Math.max(longest, longest(element));
        }
        return longest;
    }

    long[] shape() {
        return shape;
    }

    /** Creates a dataset for these elements. */
    Datasets create(NativeFile file, String path, DatasetCreationOptions options) {
        if (options.isChunked() && shape.length == 0) {
            throw new HdfWritingException("a scalar has no chunks and no filters");
        }
        long[] maxShape = options.getMaxDimensions();
        long[] chunk = options.chunk();
        checkRank(maxShape, "largest dimensions");
        checkRank(chunk, "chunk dimensions");
        return Datasets.create(
                file,
                path,
                new Datasets.Creation(
                        type.message(), shape, maxShape, chunk, options.getFilters()));
    }

    /** The native library reads as many numbers as the dataset has dimensions. */
    private void checkRank(long[] numbers, String what) {
        if (numbers != null && numbers.length != shape.length) {
            throw new HdfWritingException(
                    "a dataset of "
                            + shape.length
                            + " dimensions needs as many "
                            + what
                            + ", not "
                            + numbers.length);
        }
    }

    void writeAttribute(NativeFile file, String path, String name) {
        long elements = 1;
        for (long length : shape) {
            elements = Math.multiplyExact(elements, length);
        }
        int size = Math.toIntExact(Math.multiplyExact(elements, (long) type.size()));
        ByteBuffer bytes = ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
        put(data, bytes);
        Objects.writeAttribute(file, path, name, type.message(), shape, bytes, size);
    }

    /**
     * Writes the elements from an element of the dataset on, in parts of whole layers of chunks.
     */
    void write(Datasets dataset, long[] offset, long[] chunk) {
        long rowBytes = type.size();
        for (int i = 0; i < shape.length; i++) {
            if (shape[i] == 0) {
                return;
            }
            rowBytes = i == 0 ? rowBytes : Math.multiplyExact(rowBytes, shape[i]);
        }
        if (rowBytes > Integer.MAX_VALUE) {
            throw new HdfWritingException(
                    "an index of the first dimension has more than 2 GiB: write smaller boxes");
        }
        if (shape.length == 0) {
            part(dataset, null, data, 0, 1, (int) rowBytes);
            return;
        }
        long layer = chunk == null || chunk.length == 0 ? 1 : Math.max(chunk[0], 1);
        long[] start = offset.clone();
        long[] count = shape.clone();
        for (int row = 0; row < shape[0]; row += (int) count[0]) {
            start[0] = offset[0] + row;
            long rows =
                    Math.max(
                            Scratch.PART / rowBytes, Math.min(layer, Integer.MAX_VALUE / rowBytes));
            long end = start[0] + rows;
            long whole = end - end % layer;
            count[0] = Math.min(shape[0] - row, whole > start[0] ? whole - start[0] : rows);
            part(
                    dataset,
                    Selection.box(start, count),
                    data,
                    row,
                    (int) count[0],
                    (int) (rowBytes * count[0]));
        }
    }

    private void part(
            Datasets dataset, Selection selection, Object array, int from, int rows, int bytes) {
        try (Scratch scratch = Scratch.of(bytes)) {
            ByteBuffer memory = scratch.memory().order(ByteOrder.LITTLE_ENDIAN);
            if (selection == null) {
                put(array, memory);
            } else if (shape.length == 1) {
                type.put(array, from, rows, memory);
            } else {
                for (int i = 0; i < rows; i++) {
                    put(((Object[]) array)[from + i], memory);
                }
            }
            dataset.write(selection, MemoryType.MESSAGE, memory, bytes, type.message());
        }
    }

    private void put(Object value, ByteBuffer memory) {
        if (!value.getClass().isArray()) {
            Object one = Array.newInstance(value.getClass(), 1);
            Array.set(one, 0, value);
            type.put(one, 0, 1, memory);
        } else if (value.getClass().getComponentType().isArray()) {
            for (Object row : (Object[]) value) {
                put(row, memory);
            }
        } else {
            type.put(value, 0, Array.getLength(value), memory);
        }
    }
}
