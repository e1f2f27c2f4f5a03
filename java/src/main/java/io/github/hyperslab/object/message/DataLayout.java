package io.github.hyperslab.object.message;

/** How the elements of a dataset are stored. */
public enum DataLayout {
    /** In the header of the dataset. */
    COMPACT,
    /** In one range of bytes. */
    CONTIGUOUS,
    /** In chunks of equal shape. */
    CHUNKED,
    /** In other datasets. */
    VIRTUAL
}
