package io.github.hyperslab.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Native memory through which elements go on their way to and from Java arrays. A call that holds
 * an array of Java in place would block the garbage collector. A few buffers are kept, since new
 * ones cost as much as the copy.
 */
public final class Scratch implements AutoCloseable {
    /** The number of bytes that a read or write moves at a time. */
    public static final int PART = 32 << 20;

    private static final int KEPT = 4;
    private static final ConcurrentLinkedDeque<ByteBuffer> FREE = new ConcurrentLinkedDeque<>();
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final ByteBuffer memory;

    private Scratch(ByteBuffer memory) {
        this.memory = memory;
    }

    /**
     * Returns memory in native byte order, with old contents.
     *
     * @param size the number of bytes
     * @return memory until it is closed
     */
    public static Scratch of(int size) {
        ByteBuffer kept = FREE.pollFirst();
        if (kept != null) {
            COUNT.decrementAndGet();
            if (kept.capacity() >= size) {
                return new Scratch(kept);
            }
        }
        int rounded =
                Math.max(
                        size,
                        Math.min(PART, Integer.highestOneBit(Math.max(size, 1 << 16) - 1) << 1));
        return new Scratch(ByteBuffer.allocateDirect(rounded).order(ByteOrder.nativeOrder()));
    }

    /**
     * Returns the memory.
     *
     * @return a direct buffer, which may be larger than asked for
     */
    public ByteBuffer memory() {
        return memory.clear().order(ByteOrder.nativeOrder());
    }

    @Override
    public void close() {
        if (memory.capacity() <= PART && COUNT.get() < KEPT) {
            COUNT.incrementAndGet();
            FREE.addFirst(memory);
        }
    }
}
