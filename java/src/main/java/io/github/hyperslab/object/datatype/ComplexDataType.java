package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;

import java.util.Map;

/**
 * Complex numbers of HDF5 2.0. They are read as compounds with the members {@code r} and {@code i}.
 */
public final class ComplexDataType extends DataType {
    private final DataType baseType;

    ComplexDataType(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        baseType = reader.type();
        if (2L * baseType.getSize() > head.size()) {
            throw new HdfException(
                    "complex numbers of "
                            + head.size()
                            + " bytes whose parts have "
                            + baseType.getSize());
        }
    }

    /**
     * Returns the datatype of the real and imaginary parts.
     *
     * @return the datatype
     */
    public DataType getBaseType() {
        return baseType;
    }

    @Override
    public Class<?> getJavaType() {
        return Map.class;
    }
}
