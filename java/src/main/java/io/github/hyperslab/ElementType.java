package io.github.hyperslab;

import io.github.hyperslab.exceptions.HdfWritingException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The datatype that elements of a class of Java are written with: that of jHDF, in little-endian
 * byte order. Strings have a fixed length and end with a zero byte; truth values are bit fields of
 * one byte.
 */
final class ElementType {
    private static final int VERSION = 1 << 4;
    private static final int INTEGER = 0;
    private static final int FLOAT = 1;
    private static final int STRING = 3;
    private static final int BIT_FIELD = 4;

    private final int size;
    private final byte[] message;

    private ElementType(int dataClass, int bits, int size, byte[] properties) {
        this.size = size;
        message =
                ByteBuffer.allocate(8 + properties.length)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(VERSION | dataClass | bits << 8)
                        .putInt(size)
                        .put(properties)
                        .array();
    }

    static ElementType of(Class<?> component, boolean unsigned, int longestText) {
        Class<?> type = java.lang.invoke.MethodType.methodType(component).unwrap().returnType();
        int integer =
                type == byte.class
                        ? 1
                        : type == short.class
                                ? 2
                                : type == int.class ? 4 : type == long.class ? 8 : 0;
        if (integer > 0) {
            return new ElementType(
                    INTEGER, unsigned ? 0 : 8, integer, precision(8 * integer).array());
        }
        if (unsigned) {
            throw new HdfWritingException(
                    "only integers can be unsigned, not " + component.getName());
        }
        if (type == float.class) {
            return new ElementType(FLOAT, 31 << 8 | 0x20, Float.BYTES, ieee(32, 23, 127));
        } else if (type == double.class) {
            return new ElementType(FLOAT, 63 << 8 | 0x20, Double.BYTES, ieee(64, 52, 1023));
        } else if (type == boolean.class) {
            return new ElementType(BIT_FIELD, 0, 1, precision(8).array());
        } else if (type == String.class) {
            return new ElementType(STRING, 0x10, longestText + 1, new byte[0]);
        }
        throw new HdfWritingException(
                "elements of "
                        + component.getName()
                        + " cannot be written: only numbers of"
                        + " primitive types, truth values and strings");
    }

    private static ByteBuffer precision(int bits) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) 0)
                .putShort((short) bits);
    }

    /** The properties of a number of IEEE 754, whose sign is its highest bit. */
    private static byte[] ieee(int bits, int mantissa, int bias) {
        return ByteBuffer.allocate(12)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) 0)
                .putShort((short) bits)
                .put((byte) mantissa)
                .put((byte) (bits - mantissa - 1))
                .put((byte) 0)
                .put((byte) mantissa)
                .putInt(bias)
                .array();
    }

    int size() {
        return size;
    }

    byte[] message() {
        return message.clone();
    }

    /** Appends elements of an array of one dimension. */
    void put(Object array, int from, int count, ByteBuffer memory) {
        int end = memory.position() + count * size;
        if (array instanceof byte[] values) {
            memory.put(values, from, count);
        } else if (array instanceof short[] values) {
            memory.asShortBuffer().put(values, from, count);
        } else if (array instanceof int[] values) {
            memory.asIntBuffer().put(values, from, count);
        } else if (array instanceof long[] values) {
            memory.asLongBuffer().put(values, from, count);
        } else if (array instanceof float[] values) {
            memory.asFloatBuffer().put(values, from, count);
        } else if (array instanceof double[] values) {
            memory.asDoubleBuffer().put(values, from, count);
        } else if (array instanceof boolean[] values) {
            for (int i = 0; i < count; i++) {
                memory.put((byte) (values[from + i] ? 1 : 0));
            }
        } else {
            for (int i = 0; i < count; i++) {
                put(((Object[]) array)[from + i], memory);
            }
        }
        memory.position(end);
    }

    private void put(Object value, ByteBuffer memory) {
        if (value instanceof Byte number) {
            memory.put(number);
        } else if (value instanceof Short number) {
            memory.putShort(number);
        } else if (value instanceof Integer number) {
            memory.putInt(number);
        } else if (value instanceof Long number) {
            memory.putLong(number);
        } else if (value instanceof Float number) {
            memory.putFloat(number);
        } else if (value instanceof Double number) {
            memory.putDouble(number);
        } else if (value instanceof Boolean truth) {
            memory.put((byte) (truth ? 1 : 0));
        } else {
            byte[] text = ((String) value).getBytes(StandardCharsets.UTF_8);
            memory.put(text).put(new byte[size - text.length]);
        }
    }
}
