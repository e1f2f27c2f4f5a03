package io.github.hyperslab.internal;

import io.github.hyperslab.exceptions.HdfException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Native memory for the arguments of one call: texts, arrays and structs. Frames are used again by
 * later calls.
 */
final class Frame implements AutoCloseable {
    private static final int SIZE = 16 << 10;

    /** Frames that no call uses. There are as many as calls ran at the same time. */
    private static final ConcurrentLinkedDeque<Frame> FREE = new ConcurrentLinkedDeque<>();

    private final ByteBuffer memory = direct(SIZE);
    private final long address = Library.NATIVE.address(memory);

    /** What did not fit, for this call only. */
    private final List<ByteBuffer> more = new ArrayList<>();

    private int used;

    private Frame() {}

    static Frame open() {
        Frame frame = FREE.pollFirst();
        return frame == null ? new Frame() : frame;
    }

    @Override
    public void close() {
        used = 0;
        more.clear();
        FREE.addFirst(this);
    }

    /** Returns zeroed memory for a struct of the C API, or for results. */
    Struct struct(int size) {
        int begin = used;
        if (size > SIZE - begin) {
            ByteBuffer own = direct(size);
            more.add(own);
            return new Struct(own, Library.NATIVE.address(own), 0);
        }
        used = begin + size + 7 & ~7;
        for (int i = begin; i < used; i += 8) {
            memory.putLong(i, 0);
        }
        return new Struct(memory, address + begin, begin);
    }

    /** Returns the address of a text that ends with a zero byte. */
    long text(String text) {
        if (text.indexOf(0) >= 0) {
            throw new HdfException(
                    "'" + text.replace('\0', ' ') + "' has a zero byte, which no name can have");
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        Struct at = struct(bytes.length + 1);
        at.put(0, bytes);
        return at.address();
    }

    /** Returns the address of a copy of these numbers, or 0 for {@code null}. */
    long longs(long[] values) {
        if (values == null) {
            return 0;
        }
        Struct at = struct(values.length * Long.BYTES);
        for (int i = 0; i < values.length; i++) {
            at.putLong(i * Long.BYTES, values[i]);
        }
        return at.address();
    }

    /** Returns the address of a copy of these bytes, or 0 for {@code null}. */
    long bytes(byte[] values) {
        if (values == null) {
            return 0;
        }
        Struct at = struct(values.length);
        at.put(0, values);
        return at.address();
    }

    private static ByteBuffer direct(int size) {
        return ByteBuffer.allocateDirect(size + 7 & ~7).order(ByteOrder.nativeOrder());
    }

    /** Memory of a frame. Offsets are those of the fields in C. */
    record Struct(ByteBuffer memory, long address, int begin) {
        int getInt(int offset) {
            return memory.getInt(begin + offset);
        }

        long getLong(int offset) {
            return memory.getLong(begin + offset);
        }

        long[] getLongs(int offset, int count) {
            long[] values = new long[count];
            for (int i = 0; i < count; i++) {
                values[i] = getLong(offset + i * Long.BYTES);
            }
            return values;
        }

        void putShort(int offset, int value) {
            memory.putShort(begin + offset, (short) value);
        }

        void putInt(int offset, int value) {
            memory.putInt(begin + offset, value);
        }

        void putLong(int offset, long value) {
            memory.putLong(begin + offset, value);
        }

        void put(int offset, byte[] values) {
            memory.put(begin + offset, values);
        }
    }
}
