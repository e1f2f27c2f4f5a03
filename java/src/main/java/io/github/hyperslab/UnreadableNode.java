package io.github.hyperslab;

import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.NodeType;
import io.github.hyperslab.exceptions.HdfException;

/**
 * A member of a group's list that cannot be read: its header is damaged, or its link is of an
 * unknown kind. It must not hide its neighbours; every use of it is an exception.
 */
final class UnreadableNode extends AbstractNode {
    private final HdfException reason;

    UnreadableNode(HdfFile file, Group parent, String name, String location, HdfException reason) {
        super(file, parent, name, location, -1);
        this.reason = reason;
    }

    @Override
    public NodeType getType() {
        throw unreadable();
    }

    @Override
    public long getAddress() {
        throw unreadable();
    }

    private HdfException unreadable() {
        return new HdfException(reason.getMessage(), reason);
    }

    @Override
    public String toString() {
        return "'" + getPath() + "', which cannot be read";
    }
}
