package io.github.hyperslab.internal;

import io.github.hyperslab.Selection;
import io.github.hyperslab.exceptions.HdfException;

import java.lang.foreign.MemorySegment;

/** Reads into memory segments. */
public final class Segments {
    private Segments() {}

    /**
     * Reads elements.
     *
     * @param dataset the dataset
     * @param selection the elements
     * @param type the class of numbers, or {@code null} for the file's datatype
     * @param into native memory
     */
    public static void read(
            NativeDataset dataset, Selection selection, Class<?> type, MemorySegment into) {
        if (!(Library.NATIVE instanceof ForeignNative)) {
            // JNI would neither check that the segment is alive, nor keep it alive.
            throw new HdfException(
                    "memory segments need java.lang.foreign: leave the property hyperslab.jni unset");
        }
        if (!into.isNative()) {
            throw new HdfException("the memory is an array of Java: use native memory, or getData");
        }
        if (into.isReadOnly()) {
            throw new HdfException("the memory is read-only");
        }
        MemoryType memoryType = NativeDataset.memoryType(type);
        Datasets datasets = dataset.datasets();
        datasets.reading(
                () -> {
                    long bytes = dataset.checkRoom(selection, memoryType, into.byteSize());
                    // Not a buffer of the segment, which has at most Integer.MAX_VALUE - 8 bytes.
                    datasets.read(selection, memoryType, into, bytes);
                    return null;
                });
    }
}
