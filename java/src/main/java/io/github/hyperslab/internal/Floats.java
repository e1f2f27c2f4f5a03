package io.github.hyperslab.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Numbers of IEEE 754 as they are stored.
 *
 * @param size 2, 4 or 8 bytes
 */
record Floats(int size, ByteOrder order) implements Leaf {
    /** The most numbers that are faster to take one by one than to copy. */
    private static final int FEW = 8;

    @Override
    public Class<?> component() {
        return size == Double.BYTES ? double.class : float.class;
    }

    @Override
    public void fill(Object array, int from, int count, ByteBuffer bytes, int position, int pitch) {
        ByteBuffer ordered = bytes.order() == order ? bytes : bytes.duplicate().order(order);
        if (size == Double.BYTES) {
            doubles((double[]) array, from, count, ordered, position, pitch);
        } else {
            floats((float[]) array, from, count, ordered, position, pitch);
        }
    }

    private static void doubles(
            double[] values, int from, int count, ByteBuffer bytes, int position, int pitch) {
        if (pitch == Double.BYTES && count > FEW) {
            view(bytes, position).asDoubleBuffer().get(values, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            values[from + i] = bytes.getDouble(position + i * pitch);
        }
    }

    private static ByteBuffer view(ByteBuffer bytes, int position) {
        return bytes.duplicate().order(bytes.order()).position(position);
    }

    private void floats(
            float[] values, int from, int count, ByteBuffer bytes, int position, int pitch) {
        if (size == Float.BYTES && pitch == Float.BYTES && count > FEW) {
            view(bytes, position).asFloatBuffer().get(values, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            int at = position + i * pitch;
            values[from + i] = size == Float.BYTES ? bytes.getFloat(at) : half(bytes.getShort(at));
        }
    }

    /**
     * Half precision: a sign, 5 bits of exponent, 10 of mantissa. Java has this conversion since
     * 20.
     */
    static float half(short bits) {
        int exponent = bits >> 10 & 31;
        int mantissa = bits & 1023;
        float magnitude;
        if (exponent == 31) {
            magnitude = mantissa == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
        } else if (exponent == 0) {
            magnitude = Math.scalb((float) mantissa, -24);
        } else {
            magnitude = Math.scalb((float) (mantissa + 1024), exponent - 25);
        }
        return bits < 0 ? -magnitude : magnitude;
    }
}
