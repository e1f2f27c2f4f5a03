package io.github.hyperslab.api;

import io.github.hyperslab.Selection;

import java.nio.ByteBuffer;

/**
 * Reads into memory of the caller, without arrays of Java. From Java 22 on, the same methods take a
 * {@code java.lang.foreign.MemorySegment}, of any size.
 *
 * <p>Elements are in C order without gaps, and numbers in native byte order ({@link
 * java.nio.ByteOrder#nativeOrder()}).
 */
public interface DirectAccess {
    /**
     * Reads elements of the file's datatype. Numbers come in native byte order, whatever order the
     * file has.
     *
     * @param selection the elements
     * @param into a buffer, whose position advances by the bytes that were read; a direct one needs
     *     no copy
     * @throws io.github.hyperslab.exceptions.HdfException if the buffer is too small
     */
    void read(Selection selection, ByteBuffer into);

    /**
     * Reads numbers of any type as numbers of a type of Java.
     *
     * @param selection the elements
     * @param type the class of a primitive number, such as {@code float.class}
     * @param into a buffer, whose position advances by the bytes that were read; a direct one needs
     *     no copy
     * @throws io.github.hyperslab.exceptions.HdfException if the buffer is too small, or the
     *     elements are no numbers
     */
    void read(Selection selection, Class<?> type, ByteBuffer into);
}
