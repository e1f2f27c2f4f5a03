package io.github.hyperslab.api;

import io.github.hyperslab.filter.PipelineFilterWithData;
import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.message.DataLayout;

import java.util.List;

/**
 * An array in a file. Several threads may read one dataset, and each read uses the threads of
 * {@link io.github.hyperslab.Hyperslab#setThreads}.
 */
public interface Dataset extends Node, DirectAccess {
    /**
     * Returns the number of elements.
     *
     * @return the product of the dimensions, 1 for a scalar, 0 if there is no data
     */
    long getSize();

    /**
     * Returns the number of bytes that the elements have in the file's datatype, before filters.
     *
     * @return the number of elements times the size of one
     */
    long getSizeInBytes();

    /**
     * Returns the number of bytes that the elements occupy in the file, after filters.
     *
     * @return the number of stored bytes
     */
    long getStorageInBytes();

    /**
     * Returns the dimensions.
     *
     * @return the dimensions, without any for a scalar
     * @throws ArithmeticException if one exceeds {@link Integer#MAX_VALUE}
     */
    int[] getDimensions();

    /**
     * Returns the dimensions, of any length.
     *
     * @return the dimensions, without any for a scalar
     */
    long[] getDimensionsAsLong();

    /**
     * Tells whether this is a single element without dimensions.
     *
     * @return {@code true} for a scalar
     */
    boolean isScalar();

    /**
     * Tells whether there is no element.
     *
     * @return {@code true} for a null dataspace, and where a dimension is 0
     */
    boolean isEmpty();

    /**
     * Tells whether the elements are compounds. Complex numbers are none, though {@link #getData()}
     * returns a map of them too.
     *
     * @return {@code true} for a compound datatype
     */
    boolean isCompound();

    /**
     * Tells whether the elements are strings or sequences of variable length.
     *
     * @return {@code true} for a datatype of variable length
     */
    boolean isVariableLength();

    /**
     * Returns the dimensions that the dataset may grow to.
     *
     * @return the largest dimensions, -1 for one without a limit
     */
    long[] getMaxSize();

    /**
     * Returns how the elements are stored.
     *
     * @return the layout
     */
    DataLayout getDataLayout();

    /**
     * Reads all elements.
     *
     * <p>The result is an array of as many dimensions as the dataset has, of the class that {@link
     * #getJavaType()} names; a value of that class if the dataset is scalar; a {@code Map<String,
     * Object>} with an array for each member if the elements are compounds or complex numbers.
     * Unsigned integers become the next larger type, or {@code BigInteger}. Members of enumerations
     * are their names. Elements of variable length are strings or arrays. References are addresses.
     *
     * @return the elements, or {@code null} if there are none
     */
    Object getData();

    /**
     * Reads all elements into one array of one dimension.
     *
     * @return the elements in C order
     */
    Object getDataFlat();

    /**
     * Reads a box of elements.
     *
     * @param sliceOffset the first element in each dimension
     * @param sliceDimensions the number of elements in each dimension
     * @return an array with these dimensions
     * @throws io.github.hyperslab.exceptions.InvalidSliceHdfException if the box is not within the
     *     dataset
     */
    Object getData(long[] sliceOffset, int[] sliceDimensions);

    /**
     * Returns the class of the elements of the arrays that {@link #getData()} returns; for a scalar
     * that of the value.
     *
     * @return the class
     * @throws io.github.hyperslab.exceptions.HdfTypeException if Java has no fitting class
     */
    Class<?> getJavaType();

    /**
     * Returns the datatype in the file.
     *
     * @return the datatype
     */
    DataType getDataType();

    /**
     * Returns the value of elements that were never written.
     *
     * @return the value as {@link #getData()} would return it for a scalar, or {@code null} if none
     *     is defined
     */
    Object getFillValue();

    /**
     * Returns the filters of the dataset, in the order in which a writer applies them.
     *
     * @return the filters, none if the dataset has none
     */
    List<PipelineFilterWithData> getFilters();
}
