package io.github.hyperslab.internal;

import io.github.hyperslab.Selection;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.HdfTypeException;

/** A dataset that the native library reads. */
public interface NativeDataset {
    /**
     * Returns the dataset of the native library.
     *
     * @return the dataset
     */
    Datasets datasets();

    /**
     * Returns the properties of the dataset.
     *
     * @return the properties
     */
    ArrayInfo info();

    /**
     * Returns the type of elements in memory.
     *
     * @param type a class of primitive numbers, or {@code null} for the file's datatype
     * @return the type
     */
    static MemoryType memoryType(Class<?> type) {
        MemoryType found = type == null ? MemoryType.NATIVE : MemoryType.of(type);
        if (found == null || found == MemoryType.U64) {
            throw new HdfTypeException(
                    "elements cannot be read as "
                            + type.getName()
                            + ": only as byte, short, int, long, float or double");
        }
        return found;
    }

    /**
     * Checks that memory is large enough.
     *
     * @param selection the elements
     * @param type their type in memory
     * @param room the bytes that are there
     * @return the bytes that the elements need
     */
    default long checkRoom(Selection selection, MemoryType type, long room) {
        ArrayInfo info = info();
        long size = type.size(info.elementSize());
        long bytes = Math.multiplyExact(selection.elements(info.shape()), size);
        if (bytes > room) {
            throw new HdfException("the selection has " + bytes + " bytes, and the memory " + room);
        }
        return bytes;
    }
}
