package io.github.hyperslab.internal;

import java.nio.ByteBuffer;

/** Takes elements of one datatype from memory to an array of one dimension. */
interface Leaf {
    /** Returns the class of the elements of the array. */
    Class<?> component();

    /**
     * Sets elements of an array.
     *
     * @param array an array of {@link #component()}
     * @param from the first element to set
     * @param count the number of elements to set
     * @param bytes memory that has the elements
     * @param position where the first one begins
     * @param pitch the bytes from one to the next
     */
    void fill(Object array, int from, int count, ByteBuffer bytes, int position, int pitch);
}
