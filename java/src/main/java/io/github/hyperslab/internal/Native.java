package io.github.hyperslab.internal;

import java.nio.ByteBuffer;

/**
 * The one door to the native library. Pointers and integers are {@code long}s, in the order of the
 * C function's arguments; {@link Library} knows the functions.
 */
interface Native {
    /**
     * Calls a function of the C API.
     *
     * @param function the function, see {@link Function}
     * @return its result: a code, a pointer or a number
     */
    long call(int function, long a, long b, long c, long d, long e, long f, long g, long h, long i);

    /**
     * Calls a function whose fourth argument is memory of the caller, which stays valid during the
     * call.
     *
     * @param memory a direct buffer, whose position does not matter, or a memory segment
     */
    long callWith(int function, long a, long b, long c, Object memory, long e);

    /** Returns the address of the first byte of a direct buffer, whatever its position. */
    long address(ByteBuffer direct);

    /**
     * Returns memory of the native library as a buffer in native byte order. It must not outlive
     * that memory.
     */
    ByteBuffer view(long address, long size);

    /**
     * Fails if the memory of a buffer was freed, which it is with the arena that it came from, or
     * is of another thread alone. An address does not tell. Another thread may still close the
     * arena during the call that follows: only a segment that is an argument of a call by
     * java.lang.foreign prevents that.
     *
     * @throws IllegalStateException if the arena was closed
     */
    static void checkAlive(ByteBuffer buffer) {
        if (buffer.limit() > 0) {
            buffer.get(0);
        }
    }

    /** Returns the name of the way that the library is called. */
    String name();
}
