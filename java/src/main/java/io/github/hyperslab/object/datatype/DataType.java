package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;

/**
 * A datatype of the format: the class of its elements and their size. Section IV.A.2.d of the
 * specification.
 */
public abstract class DataType {
    private final int version;
    private final int dataClass;
    private final int size;

    DataType(DatatypeReader.Head head) {
        version = head.version();
        dataClass = head.dataClass();
        size = head.size();
    }

    /**
     * Decodes a datatype message.
     *
     * @param message the bytes of the message
     * @return the datatype
     * @throws HdfException if the message is damaged
     */
    public static DataType of(byte[] message) {
        return new DatatypeReader(message).read();
    }

    /**
     * Returns the version of the message's encoding.
     *
     * @return the version, from 1 on
     */
    public int getVersion() {
        return version;
    }

    /**
     * Returns the number of the class.
     *
     * @return 0 for integers, 1 for floating point numbers, 3 for strings, and so on
     */
    public int getDataClass() {
        return dataClass;
    }

    /**
     * Returns the size of an element in the file.
     *
     * @return the number of bytes
     */
    public int getSize() {
        return size;
    }

    /**
     * Returns the class of the elements in arrays of Java.
     *
     * @return the class
     * @throws io.github.hyperslab.exceptions.HdfTypeException if no class can hold the elements
     */
    public abstract Class<?> getJavaType();

    @Override
    public String toString() {
        return getClass().getSimpleName() + " of " + size + " bytes";
    }
}
