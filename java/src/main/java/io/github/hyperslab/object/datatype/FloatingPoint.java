package io.github.hyperslab.object.datatype;

import java.nio.ByteOrder;

/** Floating point numbers. */
public final class FloatingPoint extends DataType implements OrderedDataType {
    private final ByteOrder order;
    private final int mantissaNormalization;
    private final int signLocation;
    private final short bitOffset;
    private final short bitPrecision;
    private final byte exponentLocation;
    private final byte exponentSize;
    private final byte mantissaLocation;
    private final byte mantissaSize;
    private final int exponentBias;

    FloatingPoint(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        order = head.order();
        mantissaNormalization = head.bits(4, 2);
        signLocation = head.bits(8, 8);
        bitOffset = (short) reader.unsigned(2);
        bitPrecision = (short) reader.unsigned(2);
        exponentLocation = (byte) reader.unsigned(1);
        exponentSize = (byte) reader.unsigned(1);
        mantissaLocation = (byte) reader.unsigned(1);
        mantissaSize = (byte) reader.unsigned(1);
        exponentBias = reader.unsigned(4);
    }

    @Override
    public ByteOrder getByteOrder() {
        return order;
    }

    /**
     * Returns how the highest bit of the mantissa is stored.
     *
     * @return 2 if it is implied, as IEEE 754 has it
     */
    public int getMantissaNormalization() {
        return mantissaNormalization;
    }

    /**
     * Returns the number of the sign's bit.
     *
     * @return the number
     */
    public int getSignLocation() {
        return signLocation;
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

    /**
     * Returns the number of the exponent's first bit.
     *
     * @return the number
     */
    public byte getExponentLocation() {
        return exponentLocation;
    }

    /**
     * Returns the number of bits of the exponent.
     *
     * @return the number
     */
    public byte getExponentSize() {
        return exponentSize;
    }

    /**
     * Returns the number of the mantissa's first bit.
     *
     * @return the number
     */
    public byte getMantissaLocation() {
        return mantissaLocation;
    }

    /**
     * Returns the number of bits of the mantissa.
     *
     * @return the number
     */
    public byte getMantissaSize() {
        return mantissaSize;
    }

    /**
     * Returns what is subtracted from the stored exponent.
     *
     * @return the bias
     */
    public int getExponentBias() {
        return exponentBias;
    }

    /**
     * Tells whether this is a format of IEEE 754 with as many bits as bytes.
     *
     * @return {@code true} for half, single and double precision
     */
    public boolean isIeee() {
        return mantissaNormalization == 2
                && bitOffset == 0
                && bitPrecision == 8 * getSize()
                && mantissaLocation == 0
                && exponentLocation == mantissaSize
                && signLocation == bitPrecision - 1
                && exponentBias == (1 << exponentSize - 1) - 1
                && exponentSize
                        == switch (getSize()) {
                            case 2 -> 5;
                            case 4 -> 8;
                            case 8 -> 11;
                            default -> -1;
                        };
    }

    /** {@inheritDoc} Numbers of more than 8 bytes are rounded to {@code double}. */
    @Override
    public Class<?> getJavaType() {
        return getSize() <= Float.BYTES ? float.class : double.class;
    }
}
