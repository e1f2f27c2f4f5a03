package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Decodes a datatype message. Every field is checked against the message's end. */
final class DatatypeReader {
    /** Deeper messages are damaged: no library writes them. */
    private static final int DEEPEST = 32;

    private final ByteBuffer bytes;
    private int depth;

    DatatypeReader(byte[] message) {
        bytes = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * What all classes begin with.
     *
     * @param bits the class's own 24 bits
     */
    record Head(int version, int dataClass, int bits, int size) {
        boolean bit(int number) {
            return (bits >> number & 1) != 0;
        }

        int bits(int first, int count) {
            return bits >> first & (1 << count) - 1;
        }

        /** Checks that a number is within its element. */
        void checkBits(int offset, int precision) {
            if (offset < 0 || precision < 1 || offset + precision > 8L * size) {
                throw new HdfException(
                        "a number of "
                                + precision
                                + " bits from bit "
                                + offset
                                + " on, in an element of "
                                + size
                                + " bytes");
            }
        }

        ByteOrder order() {
            return bit(0) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        }
    }

    DataType read() {
        try {
            return type();
        } catch (BufferUnderflowException error) {
            throw new HdfException(
                    "the datatype message of " + bytes.limit() + " bytes ends early", error);
        }
    }

    /** Reads the datatype that begins here. */
    DataType type() {
        if (++depth > DEEPEST) {
            throw new HdfException("a datatype that is nested more than " + DEEPEST + " times");
        }
        int first = unsigned(1);
        int bits = unsigned(3);
        Head head = new Head(first >> 4, first & 15, bits, positive(4));
        DataType type =
                switch (head.dataClass) {
                    case 0 -> new FixedPoint(head, this);
                    case 1 -> new FloatingPoint(head, this);
                    case 2 -> new TimeDataType(head, this);
                    case 3 -> new StringData(head);
                    case 4 -> new BitField(head, this);
                    case 5 -> new OpaqueDataType(head, this);
                    case 6 -> new CompoundDataType(head, this);
                    case 7 -> new Reference(head);
                    case 8 -> new EnumDataType(head, this);
                    case 9 -> new VariableLength(head, this);
                    case 10 -> new ArrayDataType(head, this);
                    case 11 -> new ComplexDataType(head, this);
                    default -> throw new HdfException("unknown datatype class " + head.dataClass);
                };
        depth--;
        return type;
    }

    /**
     * Reads an unsigned number of up to four bytes, of which no field here uses the highest bit.
     */
    int unsigned(int size) {
        long value = 0;
        for (int i = 0; i < size; i++) {
            value |= (bytes.get() & 0xFFL) << 8 * i;
        }
        return (int) value;
    }

    /** Reads a size, which Java arrays limit to 2 GiB. */
    int positive(int size) {
        int value = unsigned(size);
        if (value < 0) {
            throw new HdfException(
                    "a size of " + Integer.toUnsignedString(value) + " bytes in a datatype");
        }
        return value;
    }

    /** Reads an integer of an enumeration's base type. */
    byte[] raw(int size) {
        if (size > bytes.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] raw = new byte[size];
        bytes.get(raw);
        return raw;
    }

    void skip(int count) {
        raw(count);
    }

    /** Reads a name and its zero byte; versions before 3 pad it to a multiple of 8 bytes. */
    String name(int version) {
        int begin = bytes.position();
        while (bytes.get() != 0) {
            // The name goes on.
        }
        int length = bytes.position() - begin - 1;
        String name = new String(bytes.array(), begin, length, StandardCharsets.UTF_8);
        if (version < 3) {
            skip(-(length + 1) & 7);
        }
        return name;
    }

    /** Reads a text that ends at a zero byte, or at its length. */
    String text(int length) {
        byte[] raw = raw(length);
        int end = 0;
        while (end < length && raw[end] != 0) {
            end++;
        }
        return new String(raw, 0, end, StandardCharsets.UTF_8);
    }
}
