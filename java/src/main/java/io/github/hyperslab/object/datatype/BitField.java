package io.github.hyperslab.object.datatype;

import java.math.BigInteger;
import java.nio.ByteOrder;

/**
 * Bits. Those of one byte are truth values, as jHDF writes and reads them; larger ones are unsigned
 * integers.
 */
public final class BitField extends DataType implements OrderedDataType {
    private final ByteOrder order;
    private final short bitOffset;
    private final short bitPrecision;

    BitField(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        order = head.order();
        bitOffset = (short) reader.unsigned(2);
        bitPrecision = (short) reader.unsigned(2);
        head.checkBits(bitOffset, bitPrecision);
    }

    @Override
    public ByteOrder getByteOrder() {
        return order;
    }

    /**
     * Returns the number of bits below the field.
     *
     * @return the number
     */
    public short getBitOffset() {
        return bitOffset;
    }

    /**
     * Returns the number of bits of the field.
     *
     * @return the number
     */
    public short getBitPrecision() {
        return bitPrecision;
    }

    @Override
    public Class<?> getJavaType() {
        return switch (getSize()) {
            case 1 -> boolean.class;
            case 2 -> int.class;
            case 3, 4 -> long.class;
            default -> BigInteger.class;
        };
    }
}
