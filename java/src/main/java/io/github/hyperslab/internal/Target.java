package io.github.hyperslab.internal;

import io.github.hyperslab.exceptions.HdfTypeException;
import io.github.hyperslab.object.datatype.ArrayDataType;
import io.github.hyperslab.object.datatype.ComplexDataType;
import io.github.hyperslab.object.datatype.CompoundDataType;
import io.github.hyperslab.object.datatype.DataType;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The arrays of Java that elements of a dataset go to. A part of the elements may be filled in at a
 * time.
 */
abstract sealed class Target {
    /** Elements of at most this many axes: those of a dataset and of the arrays in its elements. */
    private static final int MOST_AXES = 64;

    static final int[] WHOLE = {};

    /**
     * Creates the arrays for elements of a datatype.
     *
     * @param type the datatype of the elements in memory
     * @param dims the dimensions, at least one
     * @param strides the bytes from one element to the next along each dimension
     * @param file the file that has the data of elements of variable length
     */
    static Target of(DataType type, int[] dims, long[] strides, NativeFile file) {
        return of(type, dims, strides, 0, file);
    }

    /** Creates the arrays for elements that a leaf takes as they are in memory. */
    static Target of(Leaf leaf, int[] dims, long[] strides) {
        return new Arrayed(leaf, dims, strides, 0);
    }

    private static Target of(
            DataType type, int[] dims, long[] strides, int offset, NativeFile file) {
        if (type instanceof ArrayDataType array) {
            int[] inner = array.getArrayTypeDimensions();
            if (dims.length + inner.length > MOST_AXES) {
                throw new HdfTypeException("arrays of more than " + MOST_AXES + " dimensions");
            }
            int[] all = Arrays.copyOf(dims, dims.length + inner.length);
            long[] allStrides = Arrays.copyOf(strides, all.length);
            long stride = array.getBaseType().getSize();
            for (int i = inner.length - 1; i >= 0; i--) {
                all[dims.length + i] = inner[i];
                allStrides[dims.length + i] = stride;
                stride *= inner[i];
            }
            return of(array.getBaseType(), all, allStrides, offset, file);
        }
        if (type instanceof CompoundDataType compound) {
            Map<String, Target> members = new LinkedHashMap<>();
            for (CompoundDataType.CompoundDataMember member : compound.getMembers()) {
                int at = Math.addExact(offset, member.getOffset());
                members.put(member.getName(), of(member.getDataType(), dims, strides, at, file));
            }
            return new Members(members);
        }
        if (type instanceof ComplexDataType complex) {
            DataType base = complex.getBaseType();
            Map<String, Target> members = new LinkedHashMap<>();
            members.put("r", of(base, dims, strides, offset, file));
            members.put("i", of(base, dims, strides, Math.addExact(offset, base.getSize()), file));
            return new Members(members);
        }
        return new Arrayed(Leaves.of(type, file), dims, strides, offset);
    }

    /**
     * Fills in a part of the elements.
     *
     * @param at an index along each of the first dimensions, none to fill in a part of the whole
     * @param from the first index along the next dimension
     * @param count the number of indexes along that dimension
     * @param bytes memory that has the elements
     * @param position where the first element of the part begins
     */
    abstract void fill(int[] at, int from, int count, ByteBuffer bytes, int position);

    /** Fills in all elements. */
    void fillAll(int count, ByteBuffer bytes, int position) {
        fill(WHOLE, 0, count, bytes, position);
    }

    /** Returns what the elements are in Java. */
    abstract Object result();

    /**
     * Returns the only element, for a dataset without dimensions. A compound's members stay arrays,
     * as in jHDF.
     */
    abstract Object scalar();

    private static final class Arrayed extends Target {
        private final Leaf leaf;
        private final int[] dims;
        private final long[] strides;
        private final int offset;
        private final Object array;

        Arrayed(Leaf leaf, int[] dims, long[] strides, int offset) {
            this.leaf = leaf;
            this.dims = dims;
            this.strides = strides;
            this.offset = offset;
            array = arrays(leaf.component(), 0);
        }

        /**
         * Creates the array of an axis. Compiled code creates many short arrays several times
         * faster than one call for all dimensions.
         */
        private Object arrays(Class<?> component, int axis) {
            if (axis == dims.length - 1) {
                return Array.newInstance(component, dims[axis]);
            }
            Class<?> row = component;
            for (int i = axis + 1; i < dims.length; i++) {
                row = row.arrayType();
            }
            Object[] rows = (Object[]) Array.newInstance(row, dims[axis]);
            for (int i = 0; i < rows.length; i++) {
                rows[i] = arrays(component, axis + 1);
            }
            return rows;
        }

        @Override
        void fill(int[] at, int from, int count, ByteBuffer bytes, int position) {
            Object into = array;
            for (int index : at) {
                into = ((Object[]) into)[index];
            }
            fill(into, at.length, from, count, bytes, Math.addExact(position, offset));
        }

        private void fill(
                Object into, int axis, int from, int count, ByteBuffer bytes, int position) {
            int stride = Math.toIntExact(strides[axis]);
            if (axis == dims.length - 1) {
                leaf.fill(into, from, count, bytes, position, stride);
                return;
            }
            Object[] rows = (Object[]) into;
            for (int i = 0; i < count; i++) {
                fill(rows[from + i], axis + 1, 0, dims[axis + 1], bytes, position + i * stride);
            }
        }

        @Override
        Object result() {
            return array;
        }

        @Override
        Object scalar() {
            return Array.get(array, 0);
        }
    }

    private static final class Members extends Target {
        private final Map<String, Target> members;

        Members(Map<String, Target> members) {
            this.members = members;
        }

        @Override
        void fill(int[] at, int from, int count, ByteBuffer bytes, int position) {
            members.values().forEach(member -> member.fill(at, from, count, bytes, position));
        }

        @Override
        Object result() {
            Map<String, Object> result = new LinkedHashMap<>();
            members.forEach((name, member) -> result.put(name, member.result()));
            return result;
        }

        @Override
        Object scalar() {
            return result();
        }
    }
}
