package io.github.hyperslab.object.message;

/** The dimensions of a dataset or attribute. */
public final class DataSpace {
    private final long[] dimensions;
    private final long[] maxSizes;
    private final long totalLength;

    /**
     * Creates a dataspace.
     *
     * @param dimensions the dimensions
     * @param maxSizes the largest dimensions, -1 for one without a limit
     * @param totalLength the number of elements
     */
    public DataSpace(long[] dimensions, long[] maxSizes, long totalLength) {
        this.dimensions = dimensions.clone();
        this.maxSizes = maxSizes.clone();
        this.totalLength = totalLength;
    }

    /**
     * Returns the dimensions.
     *
     * @return the dimensions, none for a scalar
     * @throws ArithmeticException if one exceeds {@link Integer#MAX_VALUE}
     */
    public int[] getDimensions() {
        int[] result = new int[dimensions.length];
        for (int i = 0; i < result.length; i++) {
            result[i] = Math.toIntExact(dimensions[i]);
        }
        return result;
    }

    /**
     * Returns the dimensions, of any length.
     *
     * @return the dimensions, none for a scalar
     */
    public long[] getDimensionsAsLong() {
        return dimensions.clone();
    }

    /**
     * Returns the dimensions that the dataset may grow to.
     *
     * @return the largest dimensions, -1 for one without a limit
     */
    public long[] getMaxSizes() {
        return maxSizes.clone();
    }

    /**
     * Returns the number of elements.
     *
     * @return the product of the dimensions, 1 for a scalar, 0 for a null dataspace
     */
    public long getTotalLength() {
        return totalLength;
    }
}
