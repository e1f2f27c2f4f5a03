package io.github.hyperslab.api;

/** A group of a file that is open for writing. */
public interface WritableGroup extends Group, WritableNode {
    /**
     * Creates a dataset with elements, contiguous and without filters.
     *
     * @param name the name
     * @param data an array or a value of numbers, truth values or strings
     * @return the dataset
     * @throws io.github.hyperslab.exceptions.HdfWritingException if the name exists, or the value
     *     has no datatype
     */
    WritableDataset putDataset(String name, Object data);

    /**
     * Creates a dataset with elements.
     *
     * @param name the name
     * @param data an array or a value of numbers, truth values or strings
     * @param options how the elements are stored
     * @return the dataset
     * @throws io.github.hyperslab.exceptions.HdfWritingException if the name exists, or the value
     *     has no datatype
     */
    WritableDataset putDataset(String name, Object data, DatasetCreationOptions options);

    /**
     * Creates a dataset that is written later, in parts. Its elements are zeros until then.
     *
     * @param name the name
     * @param type the class of the elements, such as {@code float.class}
     * @param dimensions the dimensions, none for a scalar
     * @param options how the elements are stored
     * @return the dataset
     */
    WritableDataset putDataset(
            String name, Class<?> type, long[] dimensions, DatasetCreationOptions options);

    /**
     * Creates a group.
     *
     * @param name the name
     * @return the group
     */
    WritableGroup putGroup(String name);

    /**
     * Creates a soft link.
     *
     * @param name the name
     * @param target the path that it leads to
     */
    void putSoftLink(String name, String target);

    /**
     * Removes a child, and its object if this was the last link to it.
     *
     * @param name the name
     */
    void remove(String name);
}
