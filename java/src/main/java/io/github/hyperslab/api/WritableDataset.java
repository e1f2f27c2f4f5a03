package io.github.hyperslab.api;

import io.github.hyperslab.Selection;

import java.nio.ByteBuffer;

/** A dataset of a file that is open for writing. */
public interface WritableDataset extends Dataset, WritableNode {
    /**
     * Writes a box of elements.
     *
     * @param offset the first element in each dimension
     * @param data an array of as many dimensions as the dataset has
     * @throws io.github.hyperslab.exceptions.InvalidSliceHdfException if the box is not within the
     *     dataset
     */
    void write(long[] offset, Object data);

    /**
     * Writes elements from memory.
     *
     * @param selection the elements
     * @param elements a buffer with the elements in C order, numbers in native byte order; its
     *     position advances
     */
    void write(Selection selection, ByteBuffer elements);

    /**
     * Changes the dimensions.
     *
     * @param dimensions the new dimensions, within the largest ones
     */
    void resize(long... dimensions);
}
