package io.github.hyperslab;

import io.github.hyperslab.exceptions.HdfException;

/**
 * Elements of a dataset: in each dimension {@code count} blocks of {@code block} elements, {@code
 * stride} apart, from {@code start} on.
 *
 * <pre>{@code
 * Selection plane = Selection.box(new long[] {0, 100, 0}, new long[] {365, 1, 1440});
 * Selection everyTenth = Selection.box(new long[] {0}, new long[] {100}).stride(10);
 * }</pre>
 */
public final class Selection {
    private static final Selection ALL = new Selection(null, null, null, null);

    private final long[] start;
    private final long[] stride;
    private final long[] count;
    private final long[] block;

    private Selection(long[] start, long[] stride, long[] count, long[] block) {
        this.start = start;
        this.stride = stride;
        this.count = count;
        this.block = block;
    }

    /**
     * Selects all elements.
     *
     * @return the selection
     */
    public static Selection all() {
        return ALL;
    }

    /**
     * Selects a box.
     *
     * @param start the first element in each dimension
     * @param count the number of elements in each dimension
     * @return the selection
     */
    public static Selection box(long[] start, long[] count) {
        if (start.length != count.length) {
            throw new HdfException(
                    "a selection needs as many numbers in `count` ("
                            + count.length
                            + ") as in `start` ("
                            + start.length
                            + ")");
        }
        checkNotNegative(start, "start");
        checkNotNegative(count, "count");
        return new Selection(start.clone(), null, count.clone(), null);
    }

    /**
     * Returns this selection with other distances between its blocks.
     *
     * @param stride the number of elements from one block to the next in each dimension
     * @return the selection
     */
    public Selection stride(long... stride) {
        checkRank(stride, "stride");
        return new Selection(start, stride.clone(), count, block);
    }

    /**
     * Returns this selection with larger blocks.
     *
     * @param block the number of elements of a block in each dimension
     * @return the selection
     */
    public Selection block(long... block) {
        checkRank(block, "block");
        return new Selection(start, stride, count, block.clone());
    }

    /**
     * Tells whether this selects all elements.
     *
     * @return {@code true} for {@link #all()}
     */
    public boolean isAll() {
        return start == null;
    }

    /**
     * Returns the number of dimensions.
     *
     * @return the number, 0 for {@link #all()}
     */
    public int rank() {
        return start == null ? 0 : start.length;
    }

    /**
     * Returns the first elements.
     *
     * @return a number for each dimension
     */
    public long[] start() {
        return copy(start);
    }

    /**
     * Returns the distances between blocks.
     *
     * @return a number for each dimension, or {@code null} if they are 1
     */
    public long[] stride() {
        return copy(stride);
    }

    /**
     * Returns the numbers of blocks.
     *
     * @return a number for each dimension
     */
    public long[] count() {
        return copy(count);
    }

    /**
     * Returns the sizes of blocks.
     *
     * @return a number for each dimension, or {@code null} if they are 1
     */
    public long[] block() {
        return copy(block);
    }

    /**
     * Returns the number of selected elements.
     *
     * @param shape the dimensions of the dataset
     * @return the number
     * @throws ArithmeticException if it exceeds {@link Long#MAX_VALUE}
     */
    public long elements(long[] shape) {
        long elements = 1;
        for (int i = 0; i < (isAll() ? shape.length : rank()); i++) {
            elements = Math.multiplyExact(elements, isAll() ? shape[i] : count[i]);
            elements = Math.multiplyExact(elements, block == null ? 1 : block[i]);
        }
        return elements;
    }

    private void checkRank(long[] numbers, String name) {
        if (numbers.length != rank()) {
            throw new HdfException(
                    "a selection in "
                            + rank()
                            + " dimensions needs as many numbers in `"
                            + name
                            + "`, not "
                            + numbers.length);
        }
        checkNotNegative(numbers, name);
    }

    private static void checkNotNegative(long[] numbers, String name) {
        for (long number : numbers) {
            if (number < 0) {
                throw new HdfException(
                        "a selection needs numbers from 0 on in `" + name + "`, not " + number);
            }
        }
    }

    private static long[] copy(long[] numbers) {
        return numbers == null ? null : numbers.clone();
    }
}
