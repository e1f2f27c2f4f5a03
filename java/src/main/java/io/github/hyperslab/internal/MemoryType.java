package io.github.hyperslab.internal;

/** The types of elements in memory that the C API has codes for. */
public enum MemoryType {
    /** The bytes of the file. */
    STORED(0, 0),
    /** The file's datatype, with numbers in native byte order. */
    NATIVE(1, 0),
    /** {@code byte}. */
    I8(2, 1),
    /** {@code short}. */
    I16(3, 2),
    /** {@code int}. */
    I32(4, 4),
    /** {@code long}. */
    I64(5, 8),
    /** Unsigned integers of eight bytes. */
    U64(9, 8),
    /** {@code float}. */
    F32(11, 4),
    /** {@code double}. */
    F64(12, 8),
    /** The type of a datatype message. */
    MESSAGE(15, 0);

    private final int code;
    private final int size;

    MemoryType(int code, int size) {
        this.code = code;
        this.size = size;
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
     * @return the number of bytes, or 0 if the datatype says it
     */
    public int size() {
        return size;
    }
}
