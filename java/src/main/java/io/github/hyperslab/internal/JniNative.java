package io.github.hyperslab.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/** Calls the native library by JNI, which every JDK has. */
final class JniNative implements Native {
    JniNative(Path library) {
        System.load(library.toString());
        // Of another library, this has no such function: an UnsatisfiedLinkError.
        invoke(Function.VERSION, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    @Override
    public long call(
            int function, long a, long b, long c, long d, long e, long f, long g, long h, long i) {
        return invoke(function, a, b, c, d, e, f, g, h, i);
    }

    @Override
    public long callWith(int function, long a, long b, long c, Object memory, long e) {
        ByteBuffer buffer = (ByteBuffer) memory; // Segments refuses the others.
        Native.checkAlive(buffer);
        return invokeWith(function, a, b, c, buffer, e);
    }

    @Override
    public long address(ByteBuffer direct) {
        return addressOf(direct);
    }

    @Override
    public ByteBuffer view(long address, long size) {
        return viewOf(address, size).order(ByteOrder.nativeOrder());
    }

    @Override
    public String name() {
        return "JNI";
    }

    private static native long invoke(
            int function, long a, long b, long c, long d, long e, long f, long g, long h, long i);

    private static native long invokeWith(
            int function, long a, long b, long c, ByteBuffer memory, long e);

    private static native long addressOf(ByteBuffer direct);

    private static native ByteBuffer viewOf(long address, long size);
}
