package io.github.hyperslab.exceptions;

import java.util.Arrays;

/** A slice that does not fit the dimensions of its dataset. */
public class InvalidSliceHdfException extends HdfException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what is wrong with the slice
     * @param sliceOffset the first element of the slice in each dimension
     * @param sliceDimensions the number of elements of the slice in each dimension
     * @param datasetDimensions the dimensions of the dataset
     */
    public InvalidSliceHdfException(
            String message, long[] sliceOffset, int[] sliceDimensions, long[] datasetDimensions) {
        super(
                message
                        + ": offset "
                        + Arrays.toString(sliceOffset)
                        + ", dimensions "
                        + Arrays.toString(sliceDimensions)
                        + ", of a dataset with dimensions "
                        + Arrays.toString(datasetDimensions));
    }
}
