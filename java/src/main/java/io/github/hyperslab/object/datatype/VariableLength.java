package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;

import java.nio.charset.Charset;

/** Strings or sequences of any length. */
public final class VariableLength extends DataType {
    private final int type;
    private final StringData.PaddingType paddingType;
    private final Charset encoding;
    private final DataType parent;

    VariableLength(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        type = head.bits(0, 4);
        paddingType = isVariableLengthString() ? StringData.PaddingType.of(head.bits(4, 4)) : null;
        encoding = isVariableLengthString() ? StringData.charset(head.bits(8, 4)) : null;
        parent = reader.type();
        if (parent.getSize() == 0) {
            throw new HdfException("sequences whose elements have no bytes");
        }
    }

    /**
     * Tells whether these are strings.
     *
     * @return {@code true} for strings, {@code false} for sequences
     */
    public boolean isVariableLengthString() {
        return type == 1;
    }

    /**
     * Returns the kind as the format has it.
     *
     * @return 1 for strings, 0 for sequences
     */
    public int getType() {
        return type;
    }

    /**
     * Returns what follows the text of strings.
     *
     * @return the padding
     * @throws HdfException for sequences
     */
    public StringData.PaddingType getPaddingType() {
        return ofString(paddingType);
    }

    /**
     * Returns the encoding of strings.
     *
     * @return the encoding
     * @throws HdfException for sequences
     */
    public Charset getEncoding() {
        return ofString(encoding);
    }

    private <T> T ofString(T value) {
        if (!isVariableLengthString()) {
            throw new HdfException("sequences have no padding or encoding: these are no strings");
        }
        return value;
    }

    /**
     * Returns the datatype of what the strings or sequences consist of.
     *
     * @return the datatype
     */
    public DataType getParent() {
        return parent;
    }

    @Override
    public Class<?> getJavaType() {
        return isVariableLengthString() ? String.class : Object.class;
    }
}
