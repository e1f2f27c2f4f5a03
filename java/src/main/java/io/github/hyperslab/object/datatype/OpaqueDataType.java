package io.github.hyperslab.object.datatype;

/** Bytes without a meaning in the format. */
public final class OpaqueDataType extends DataType {
    private final String asciiTag;

    OpaqueDataType(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        asciiTag = reader.text(head.bits(0, 8));
    }

    /**
     * Returns what the writer says of the bytes.
     *
     * @return the tag
     */
    public String getAsciiTag() {
        return asciiTag;
    }

    @Override
    public Class<?> getJavaType() {
        return byte[].class;
    }
}
