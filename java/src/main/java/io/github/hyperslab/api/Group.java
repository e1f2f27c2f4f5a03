package io.github.hyperslab.api;

import java.util.Map;

/** A group: nodes by name. */
public interface Group extends Node, Iterable<Node> {
    /**
     * Returns the nodes in this group.
     *
     * @return the nodes by name; soft and external links are {@link Link}s
     */
    Map<String, Node> getChildren();

    /**
     * Returns one node of this group.
     *
     * @param name the name of the node, without any slash
     * @return the node, or {@code null} if there is none of that name
     */
    Node getChild(String name);

    /**
     * Returns the node at a path below this group. Links on the way, and at its end, are followed.
     *
     * @param path names separated by slashes
     * @return the node
     * @throws io.github.hyperslab.exceptions.HdfInvalidPathException if there is none
     */
    Node getByPath(String path);

    /**
     * Returns the dataset at a path below this group. Links are followed.
     *
     * @param path names separated by slashes
     * @return the dataset
     * @throws io.github.hyperslab.exceptions.HdfInvalidPathException if there is no dataset at the
     *     path
     */
    Dataset getDatasetByPath(String path);

    /**
     * Tells whether the file notes the order in which links were created.
     *
     * @return {@code true} if the order is noted
     */
    boolean isLinkCreationOrderTracked();
}
