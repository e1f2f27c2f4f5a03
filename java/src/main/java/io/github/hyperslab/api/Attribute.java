package io.github.hyperslab.api;

import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.message.DataSpace;

import java.nio.ByteBuffer;

/** A small array with a name, attached to a node. */
public interface Attribute {
    /**
     * Returns the node that has the attribute.
     *
     * @return the node
     */
    Node getNode();

    /**
     * Returns the name of the attribute.
     *
     * @return the name
     */
    String getName();

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
     * Reads the attribute. See {@link Dataset#getData()} for what is returned.
     *
     * @return the value, or {@code null} if the attribute is empty
     */
    Object getData();

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
     * Returns the dimensions as the file has them.
     *
     * @return the dataspace
     */
    DataSpace getDataSpace();

    /**
     * Returns the bytes of the attribute as the file has them.
     *
     * @return the bytes, in the byte order of the datatype, or {@code null} if the attribute is
     *     empty
     */
    ByteBuffer getBuffer();
}
