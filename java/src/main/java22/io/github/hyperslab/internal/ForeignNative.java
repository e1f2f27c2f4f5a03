package io.github.hyperslab.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.hyperslab.exceptions.HdfException;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/** Calls the native library by the Foreign Function and Memory API. */
final class ForeignNative implements Native {
    /** Set once, before {@link Calls} is loaded, whose constants the compiler can inline. */
    private static SymbolLookup symbols;

    /** The library's two entries. */
    private static final class Calls {
        static final String NAME = "hyperslab_java_call";

        static final MethodHandle CALL =
                handle(
                        NAME,
                        FunctionDescriptor.of(
                                JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                                JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

        /**
         * A segment that is passed as an address stays alive during the call, and is checked for
         * its thread.
         */
        static final MethodHandle CALL_WITH =
                handle(
                        "hyperslab_java_call_with",
                        FunctionDescriptor.of(
                                JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS,
                                JAVA_LONG));

        private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
            return Linker.nativeLinker()
                    .downcallHandle(symbols.find(name).orElseThrow(), descriptor);
        }
    }

    ForeignNative(Path library) {
        symbols = SymbolLookup.libraryLookup(library, Arena.global());
        if (symbols.find(Calls.NAME).isEmpty()) {
            throw new HdfException("'" + library + "' is not the native library of hyperslab");
        }
    }

    @Override
    public long call(
            int function, long a, long b, long c, long d, long e, long f, long g, long h, long i) {
        try {
            return (long) Calls.CALL.invokeExact(function, a, b, c, d, e, f, g, h, i);
        } catch (Throwable failure) {
            throw failed(failure);
        }
    }

    @Override
    public long callWith(int function, long a, long b, long c, Object memory, long e) {
        MemorySegment segment =
                memory instanceof ByteBuffer buffer
                        ? MemorySegment.ofBuffer(buffer.duplicate().clear())
                        : (MemorySegment) memory;
        try {
            return (long) Calls.CALL_WITH.invokeExact(function, a, b, c, segment, e);
        } catch (Throwable failure) {
            throw failed(failure);
        }
    }

    @Override
    public long address(ByteBuffer direct) {
        return MemorySegment.ofBuffer(direct.duplicate().clear()).address();
    }

    @Override
    public ByteBuffer view(long address, long size) {
        return MemorySegment.ofAddress(address)
                .reinterpret(size)
                .asByteBuffer()
                .order(ByteOrder.nativeOrder());
    }

    @Override
    public String name() {
        return "FFM";
    }

    /** What a segment's checks throw reaches the caller; a call itself throws nothing. */
    private static RuntimeException failed(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException exception
                ? exception
                : new IllegalStateException(failure);
    }
}
