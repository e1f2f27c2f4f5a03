package io.github.hyperslab.internal;

import io.github.hyperslab.object.datatype.FixedPoint;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Integers as they are stored.
 *
 * @param size the number of bytes, up to 8
 * @param order the order of the bytes
 * @param offset the number of bits below the number
 * @param precision the number of bits of the number
 * @param signed whether the highest bit of the number is its sign
 * @param component a class that can hold the numbers
 */
public record Integers(
        int size, ByteOrder order, int offset, int precision, boolean signed, Class<?> component)
        implements Leaf {
    /**
     * Returns the integers of a datatype.
     *
     * @param type the datatype
     * @param component a class that can hold the numbers
     * @return how they are stored
     */
    public static Integers of(FixedPoint type, Class<?> component) {
        return new Integers(
                type.getSize(),
                type.getByteOrder(),
                type.getBitOffset(),
                type.getBitPrecision(),
                type.isSigned(),
                component);
    }

    @Override
    public void fill(Object array, int from, int count, ByteBuffer bytes, int position, int pitch) {
        if (pitch == size && isPlain()) {
            copy(array, from, count, bytes.duplicate().order(order).position(position));
        } else if (array instanceof byte[] values) {
            for (int i = 0; i < count; i++) {
                values[from + i] = (byte) at(bytes, position + i * pitch);
            }
        } else if (array instanceof short[] values) {
            for (int i = 0; i < count; i++) {
                values[from + i] = (short) at(bytes, position + i * pitch);
            }
        } else if (array instanceof int[] values) {
            for (int i = 0; i < count; i++) {
                values[from + i] = (int) at(bytes, position + i * pitch);
            }
        } else if (array instanceof long[] values) {
            for (int i = 0; i < count; i++) {
                values[from + i] = at(bytes, position + i * pitch);
            }
        } else {
            BigInteger[] values = (BigInteger[]) array;
            for (int i = 0; i < count; i++) {
                values[from + i] = unsigned(at(bytes, position + i * pitch));
            }
        }
    }

    /**
     * Returns the number that begins at a position.
     *
     * @param bytes memory that has the number
     * @param position its first byte
     * @return the number; an unsigned one of 8 bytes may be negative
     */
    public long at(ByteBuffer bytes, int position) {
        long value = 0;
        for (int i = 0; i < size; i++) {
            int next = order == ByteOrder.LITTLE_ENDIAN ? size - 1 - i : i;
            value = value << 8 | bytes.get(position + next) & 0xFF;
        }
        int above = Long.SIZE - offset - precision;
        value <<= above;
        return signed ? value >> above + offset : value >>> above + offset;
    }

    /** Tells whether the stored numbers are those of Java. */
    private boolean isPlain() {
        Class<?> same =
                switch (size) {
                    case 1 -> byte.class;
                    case 2 -> short.class;
                    case 4 -> int.class;
                    case 8 -> long.class;
                    default -> null;
                };
        return component == same && offset == 0 && precision == 8 * size;
    }

    private static void copy(Object array, int from, int count, ByteBuffer bytes) {
        if (array instanceof byte[] values) {
            bytes.get(values, from, count);
        } else if (array instanceof short[] values) {
            bytes.asShortBuffer().get(values, from, count);
        } else if (array instanceof int[] values) {
            bytes.asIntBuffer().get(values, from, count);
        } else {
            bytes.asLongBuffer().get((long[]) array, from, count);
        }
    }

    private static BigInteger unsigned(long value) {
        BigInteger low = BigInteger.valueOf(value);
        return value < 0 ? low.add(BigInteger.ONE.shiftLeft(Long.SIZE)) : low;
    }
}
