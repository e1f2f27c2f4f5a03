package io.github.hyperslab.links;

import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Node;

/**
 * A link to a path of the same file. A path without a slash at its beginning starts at the link's
 * group.
 */
public final class SoftLink extends AbstractLink {
    private final String target;

    /**
     * Creates a link.
     *
     * @param target the path that it leads to
     * @param name its name
     * @param parent its group
     */
    public SoftLink(String target, String name, Group parent) {
        super(name, parent);
        this.target = target;
    }

    @Override
    Node resolve() {
        Group from = target.startsWith("/") ? getParent().getHdfFile() : getParent();
        return from.getByPath(target);
    }

    @Override
    public String getTargetPath() {
        return target;
    }
}
