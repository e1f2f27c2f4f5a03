package io.github.hyperslab.api;

import io.github.hyperslab.HdfFile;

import java.io.File;
import java.nio.file.Path;
import java.util.Map;

/**
 * What has a place in a file: a group, a dataset, a committed datatype, a link, or the file itself.
 */
public interface Node {
    /**
     * Returns the group that this node is in.
     *
     * @return the parent, or {@code null} for the file
     */
    Group getParent();

    /**
     * Returns the name of this node in its group.
     *
     * @return the name, without any slash
     */
    String getName();

    /**
     * Returns the path from the root of the file. That of a group ends with a slash.
     *
     * @return the absolute path
     */
    String getPath();

    /**
     * Returns the attributes of this node.
     *
     * @return the attributes by name, in the order of their creation if {@link
     *     #isAttributeCreationOrderTracked()}, else in that of their names
     */
    Map<String, Attribute> getAttributes();

    /**
     * Returns one attribute.
     *
     * @param name the name of the attribute
     * @return the attribute, or {@code null} if there is none of that name
     */
    Attribute getAttribute(String name);

    /**
     * Returns the kind of this node; for a link that of its target.
     *
     * @return the kind
     */
    NodeType getType();

    /**
     * Tells whether this node is a group.
     *
     * @return {@code true} for groups and files
     */
    boolean isGroup();

    /**
     * Returns the file that has this node.
     *
     * @return the file, or {@code null} if it is not in the default file system
     */
    default File getFile() {
        return getHdfFile().getFile();
    }

    /**
     * Returns the path of the file that has this node.
     *
     * @return the path
     * @throws io.github.hyperslab.exceptions.HdfException if the file is in memory
     */
    default Path getFileAsPath() {
        return getHdfFile().getFileAsPath();
    }

    /**
     * Returns the open file that has this node.
     *
     * @return the file
     */
    HdfFile getHdfFile();

    /**
     * Returns the offset of the node's object header from the file's base address.
     *
     * @return the address in bytes
     */
    long getAddress();

    /**
     * Tells whether this node is a soft or external link.
     *
     * @return {@code true} for a {@link Link}
     */
    default boolean isLink() {
        return false;
    }

    /**
     * Tells whether the file notes the order in which attributes were created.
     *
     * @return {@code true} if the order is noted
     */
    boolean isAttributeCreationOrderTracked();
}
