package io.github.hyperslab.internal;

import io.github.hyperslab.exceptions.HdfException;

/**
 * What {@code hs_array_info} says of a dataset or attribute.
 *
 * @param space a scalar (0), an array (1) or nothing (2)
 * @param layout compact (1), contiguous (2), chunked (3), virtual (4), or contiguous in other files
 *     (5)
 * @param isFillDefined whether a fill value is stored
 * @param filters the number of filters
 * @param elementSize the bytes of an element in the file
 * @param elements the number of elements
 * @param address of the object's header
 * @param storageBytes the stored bytes, if they were asked for
 * @param shape the dimensions
 * @param maxShape the largest dimensions, -1 for one without a limit
 * @param chunk the shape of a chunk; zeros if there are none
 */
public record ArrayInfo(
        int space,
        int layout,
        boolean isFillDefined,
        int filters,
        int elementSize,
        long elements,
        long address,
        long storageBytes,
        long[] shape,
        long[] maxShape,
        long[] chunk) {
    /** The null dataspace. */
    public static final int NULL = 2;

    /** The layout in one range of bytes. */
    public static final int CONTIGUOUS = 2;

    /** The layout in chunks. */
    public static final int CHUNKED = 3;

    static final int SIZE = 840;
    private static final int FILL_DEFINED = 2;

    static Frame.Struct request(Frame frame, boolean wantsStorage) {
        Frame.Struct struct = frame.struct(SIZE);
        struct.putLong(0, SIZE);
        struct.putInt(8, wantsStorage ? 1 : 0);
        return struct;
    }

    static ArrayInfo of(Frame.Struct struct) {
        int rank = struct.getInt(12);
        long elementSize = struct.getLong(40);
        if (elementSize < 0 || elementSize > Integer.MAX_VALUE) {
            throw new HdfException(
                    "an element of "
                            + Long.toUnsignedString(elementSize)
                            + " bytes: no buffer of Java can hold one");
        }
        return new ArrayInfo(
                struct.getInt(16),
                struct.getInt(28),
                struct.getInt(32) == FILL_DEFINED,
                struct.getInt(36),
                (int) elementSize,
                struct.getLong(48),
                struct.getLong(56),
                struct.getLong(64),
                struct.getLongs(72, rank),
                struct.getLongs(328, rank),
                struct.getLongs(584, rank));
    }
}
