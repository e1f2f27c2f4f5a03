package io.github.hyperslab.api;

/** The kind of a {@link Node}. */
public enum NodeType {
    /** The file, which is also its root group. */
    FILE,
    /** A group. */
    GROUP,
    /** A dataset. */
    DATASET,
    /** A datatype with a name. */
    COMMITTED_DATATYPE
}
