package io.github.hyperslab.object.datatype;

import java.nio.ByteOrder;

/** A datatype whose elements have a byte order. */
public interface OrderedDataType {
    /**
     * Returns the byte order in the file.
     *
     * @return the order
     */
    ByteOrder getByteOrder();
}
