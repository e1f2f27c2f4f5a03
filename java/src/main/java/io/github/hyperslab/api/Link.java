package io.github.hyperslab.api;

/**
 * A link that names its target by a path. The other methods of {@link Node} are those of the
 * target.
 */
public interface Link extends Node {
    /**
     * Returns the node that the link leads to.
     *
     * @return the target
     * @throws io.github.hyperslab.exceptions.HdfBrokenLinkException if there is none
     */
    Node getTarget();

    /**
     * Returns the path that the link holds, without following it.
     *
     * @return the path; for an external link the file, a colon and the path
     */
    String getTargetPath();

    /**
     * Tells whether the link leads nowhere.
     *
     * @return {@code true} if {@link #getTarget()} would fail
     */
    boolean isBrokenLink();
}
