package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfTypeException;

import java.math.BigInteger;
import java.nio.ByteOrder;

/** Integers. Unsigned ones become the next larger type of Java. */
public final class FixedPoint extends DataType implements OrderedDataType {
    private final ByteOrder order;
    private final boolean lowPadding;
    private final boolean highPadding;
    private final boolean signed;
    private final short bitOffset;
    private final short bitPrecision;

    FixedPoint(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        order = head.order();
        lowPadding = head.bit(1);
        highPadding = head.bit(2);
        signed = head.bit(3);
        bitOffset = (short) reader.unsigned(2);
        bitPrecision = (short) reader.unsigned(2);
        head.checkBits(bitOffset, bitPrecision);
    }

    @Override
    public ByteOrder getByteOrder() {
        return order;
    }

    /**
     * Returns the bit that pads below the number.
     *
     * @return {@code true} for ones
     */
    public boolean isLowPadding() {
        return lowPadding;
    }

    /**
     * Returns the bit that pads above the number.
     *
     * @return {@code true} for ones
     */
    public boolean isHighPadding() {
        return highPadding;
    }

    /**
     * Tells whether the integers have a sign.
     *
     * @return {@code true} for two's complement
     */
    public boolean isSigned() {
        return signed;
    }

    /**
     * Returns the number of bits below the number.
     *
     * @return the number
     */
    public short getBitOffset() {
        return bitOffset;
    }

    /**
     * Returns the number of bits of the number.
     *
     * @return the number
     */
    public short getBitPrecision() {
        return bitPrecision;
    }

    @Override
    public Class<?> getJavaType() {
        if (getSize() > Long.BYTES) {
            throw new HdfTypeException(
                    "integers of " + getSize() + " bytes: Java has none of more than 8");
        }
        if (signed) {
            return bitPrecision <= 8
                    ? byte.class
                    : bitPrecision <= 16
                            ? short.class
                            : bitPrecision <= 32 ? int.class : long.class;
        }
        return bitPrecision <= 16 ? int.class : bitPrecision <= 32 ? long.class : BigInteger.class;
    }
}
