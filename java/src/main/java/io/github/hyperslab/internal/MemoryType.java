package io.github.hyperslab.internal;

import java.math.BigInteger;
import java.nio.ByteOrder;

/** The types of elements in memory that the C API has codes for. */
public enum MemoryType {
    /** The bytes of the file. */
    STORED(0, 0, null),
    /** The file's datatype, with numbers in native byte order. */
    NATIVE(1, 0, null),
    /** {@code byte}. */
    I8(2, 1, byte.class),
    /** {@code short}. */
    I16(3, 2, short.class),
    /** {@code int}. */
    I32(4, 4, int.class),
    /** {@code long}. */
    I64(5, 8, long.class),
    /** Unsigned integers of eight bytes. */
    U64(9, 8, BigInteger.class),
    /** {@code float}. */
    F32(11, 4, float.class),
    /** {@code double}. */
    F64(12, 8, double.class),
    /** The type of a datatype message. */
    MESSAGE(15, 0, null);

    private final int code;
    private final int size;
    private final Class<?> javaType;

    MemoryType(int code, int size, Class<?> javaType) {
        this.code = code;
        this.size = size;
        this.javaType = javaType;
    }

    /**
     * Returns the type of numbers of a class of Java.
     *
     * @param javaType the class
     * @return the type, or {@code null} if the class is none of numbers
     */
    public static MemoryType of(Class<?> javaType) {
        for (MemoryType each : values()) {
            if (each.javaType != null && each.javaType == javaType) {
                return each;
            }
        }
        return null;
    }

    /** Returns how numbers of this type become those of Java, or {@code null} for other elements. */
    Leaf leaf() {
        ByteOrder order = ByteOrder.nativeOrder();
        return switch (this) {
            case STORED, NATIVE, MESSAGE -> null;
            case F32, F64 -> new Floats(size, order);
            default -> new Integers(size, order, 0, 8 * size, this != U64, javaType);
        };
    }

    /**
     * Returns the code in the C API.
     *
     * @return the code
     */
    public int code() {
        return code;
    }

    /**
     * Returns the size of an element.
     *
     * @param stored the size in the file, which is that in memory if nothing is converted
     * @return the number of bytes
     */
    public int size(int stored) {
        return size == 0 ? stored : size;
    }
}
