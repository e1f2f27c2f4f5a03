package io.github.hyperslab.links;

import io.github.hyperslab.HdfFile;
import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Link;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.api.NodeType;
import io.github.hyperslab.exceptions.HdfBrokenLinkException;
import io.github.hyperslab.exceptions.HdfException;

import java.nio.file.InvalidPathException;
import java.util.Map;

/** A link that is followed when its target is first needed. */
public abstract class AbstractLink implements Link {
    /** Links that lead to links, and so on, further than this are circular. */
    private static final int DEEPEST = 64;

    /**
     * The most links that one look-up follows. A path of a few links that each lead to a path of
     * links would otherwise take time that doubles with each of them.
     */
    private static final int MOST = 1000;

    /** The look-up that this thread is in. */
    private static final ThreadLocal<Lookup> LOOKUP = ThreadLocal.withInitial(Lookup::new);

    /** How far a look-up has come. */
    private static final class Lookup {
        private int depth;
        private int followed;
    }

    private final String name;
    private final Group parent;
    /**
     * Two threads that follow links in a circle must not wait for each other, so no lock is held:
     * both find the same target.
     */
    private volatile Node target;

    AbstractLink(String name, Group parent) {
        this.name = name;
        this.parent = parent;
    }

    /** Follows the link. */
    abstract Node resolve();

    @Override
    public Node getTarget() {
        Node found = target;
        if (found == null) {
            Lookup lookup = LOOKUP.get();
            if (lookup.depth >= DEEPEST) {
                throw new HdfBrokenLinkException("'" + getPath() + "' leads to itself", null);
            }
            if (lookup.followed >= MOST) {
                throw new HdfBrokenLinkException(
                        "'" + getPath() + "' is reached by more than " + MOST + " links", null);
            }
            lookup.depth++;
            lookup.followed++;
            try {
                found = resolve();
                target = found;
            } catch (HdfException | InvalidPathException error) {
                throw new HdfBrokenLinkException(
                        "the link '" + getPath() + "' to '" + getTargetPath() + "' is broken",
                        error);
            } finally {
                lookup.depth--;
                if (lookup.depth == 0) {
                    LOOKUP.remove();
                }
            }
        }
        return found;
    }

    @Override
    public boolean isBrokenLink() {
        try {
            getTarget();
            return false;
        } catch (HdfBrokenLinkException error) {
            return true;
        }
    }

    @Override
    public Group getParent() {
        return parent;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public String getPath() {
        return parent.getPath() + name;
    }

    @Override
    public Map<String, Attribute> getAttributes() {
        return getTarget().getAttributes();
    }

    @Override
    public Attribute getAttribute(String name) {
        return getTarget().getAttribute(name);
    }

    @Override
    public NodeType getType() {
        return getTarget().getType();
    }

    @Override
    public boolean isGroup() {
        return getTarget().isGroup();
    }

    @Override
    public HdfFile getHdfFile() {
        return parent.getHdfFile();
    }

    @Override
    public long getAddress() {
        return getTarget().getAddress();
    }

    @Override
    public boolean isLink() {
        return true;
    }

    @Override
    public boolean isAttributeCreationOrderTracked() {
        return getTarget().isAttributeCreationOrderTracked();
    }

    @Override
    public String toString() {
        return "link '" + getPath() + "' to '" + getTargetPath() + "'";
    }
}
