package io.github.hyperslab.object.datatype;

import java.nio.ByteOrder;

/** Times of the system that wrote the file. An element is its bytes. */
public final class TimeDataType extends DataType implements OrderedDataType {
    private final ByteOrder order;
    private final short bitPrecision;

    TimeDataType(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        order = head.order();
        bitPrecision = (short) reader.unsigned(2);
    }

    @Override
    public ByteOrder getByteOrder() {
        return order;
    }

    /**
     * Returns the number of bits of the time.
     *
     * @return the number
     */
    public short getBitPrecision() {
        return bitPrecision;
    }

    @Override
    public Class<?> getJavaType() {
        return byte[].class;
    }
}
