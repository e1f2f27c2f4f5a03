package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;

import java.lang.reflect.Array;

/** Elements that are arrays of equal shape. Their dimensions follow those of the dataset. */
public final class ArrayDataType extends DataType {
    private final DataType baseType;
    private final int[] dimensions;

    ArrayDataType(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        dimensions = new int[reader.unsigned(1)];
        if (head.version() < 3) {
            reader.skip(3);
        }
        for (int i = 0; i < dimensions.length; i++) {
            dimensions[i] = reader.positive(4);
            if (head.version() < 3) {
                // A permutation that was never used.
                reader.skip(4);
            }
        }
        baseType = reader.type();
        checkSize(getSize());
    }

    /** An array that a version 1 compound has as a member. */
    ArrayDataType(DatatypeReader.Head compound, int[] dimensions, DataType baseType) {
        super(new DatatypeReader.Head(compound.version(), 10, 0, size(dimensions, baseType)));
        this.dimensions = dimensions;
        this.baseType = baseType;
    }

    private void checkSize(int size) {
        if (size(dimensions, baseType) != size) {
            throw new HdfException(
                    "an array datatype of " + size + " bytes whose elements have another size");
        }
    }

    private static int size(int[] dimensions, DataType base) {
        long size = base.getSize();
        if (size == 0) {
            throw new HdfException("an array datatype whose elements have no bytes");
        }
        for (int length : dimensions) {
            size *= length;
            if (size > Integer.MAX_VALUE) {
                throw new HdfException("an array datatype of more than 2 GiB");
            }
        }
        return (int) size;
    }

    /**
     * Returns the datatype of the elements of the arrays.
     *
     * @return the datatype
     */
    public DataType getBaseType() {
        return baseType;
    }

    /**
     * Returns the dimensions of the arrays.
     *
     * @return a copy of the dimensions
     */
    public int[] getArrayTypeDimensions() {
        return dimensions.clone();
    }

    @Override
    public Class<?> getJavaType() {
        return Array.newInstance(baseType.getJavaType(), 0).getClass();
    }
}
