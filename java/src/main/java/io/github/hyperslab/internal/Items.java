package io.github.hyperslab.internal;

import io.github.hyperslab.exceptions.HdfException;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** Texts, sequences or messages that the native library has allocated, until they are closed. */
public final class Items implements AutoCloseable {
    /** The size of {@code hs_items}. */
    static final int SIZE = 40;

    private final long owner;
    private final int count;
    private final ByteBuffer offsets;
    private final ByteBuffer lengths;
    private final ByteBuffer bytes;

    Items(Frame.Struct filled) {
        owner = filled.getLong(32);
        long number = filled.getLong(0);
        long end = 0;
        try {
            count = Math.toIntExact(number);
            offsets =
                    count == 0
                            ? null
                            : Library.NATIVE.view(
                                    filled.getLong(8), Math.multiplyExact(number, 8L));
            lengths =
                    count == 0
                            ? null
                            : Library.NATIVE.view(
                                    filled.getLong(16), Math.multiplyExact(number, 8L));
            for (int i = 0; i < count; i++) {
                end = Math.max(end, offsets.getLong(8 * i) + lengths.getLong(8 * i));
            }
            bytes =
                    end == 0
                            ? ByteBuffer.allocate(0)
                            : Library.NATIVE.view(filled.getLong(24), Math.toIntExact(end));
        } catch (ArithmeticException | IllegalArgumentException error) {
            free();
            throw new HdfException(
                    "texts or sequences of more than 2 GiB: read a part of the dataset", error);
        }
    }

    /**
     * Returns the number of items.
     *
     * @return the number
     */
    public int count() {
        return count;
    }

    /**
     * Returns the bytes of all items.
     *
     * @return memory that is valid until this is closed
     */
    public ByteBuffer bytes() {
        return bytes;
    }

    /**
     * Returns where an item begins in {@link #bytes()}.
     *
     * @param index the number of the item
     * @return the position of its first byte
     */
    public int position(int index) {
        return (int) offsets.getLong(8 * index);
    }

    /**
     * Returns the length of an item.
     *
     * @param index the number of the item
     * @return the number of its bytes
     */
    public int length(int index) {
        return (int) lengths.getLong(8 * index);
    }

    /**
     * Returns a copy of an item.
     *
     * @param index the number of the item
     * @return its bytes
     */
    public byte[] copy(int index) {
        byte[] copy = new byte[length(index)];
        bytes.get(position(index), copy);
        return copy;
    }

    /**
     * Returns an item as text.
     *
     * @param index the number of the item
     * @param charset the encoding
     * @return the text; bytes that are not in the encoding become replacement characters
     */
    public String text(int index, Charset charset) {
        return new String(copy(index), charset);
    }

    String[] texts() {
        String[] texts = new String[count];
        for (int i = 0; i < count; i++) {
            texts[i] = text(i, StandardCharsets.UTF_8);
        }
        return texts;
    }

    @Override
    public void close() {
        free();
    }

    private void free() {
        try (Frame frame = Frame.open()) {
            Frame.Struct struct = frame.struct(SIZE);
            struct.putLong(32, owner);
            Library.call(Function.FREE, struct.address());
        }
    }
}
