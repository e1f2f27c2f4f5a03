package io.github.hyperslab;

import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.DatasetCreationOptions;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Link;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.api.NodeType;
import io.github.hyperslab.api.WritableDataset;
import io.github.hyperslab.api.WritableGroup;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.HdfInvalidPathException;
import io.github.hyperslab.internal.Datasets;
import io.github.hyperslab.internal.Objects;
import io.github.hyperslab.links.ExternalLink;
import io.github.hyperslab.links.SoftLink;

import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A group. A file open for reading only keeps the list of its children. */
final class GroupNode extends AbstractNode implements WritableGroup {
    /** What children have as their parent: for the root group the file. */
    private final Group self;

    private Map<String, Node> children;

    GroupNode(HdfFile file, Group parent, String name, String location, long address) {
        super(file, parent, name, location, address);
        self = this;
    }

    /** The root group of a file, whose children have the file as their parent. */
    GroupNode(HdfFile file, FileNode self, long address) {
        super(file, null, "", "/", address);
        this.self = self;
    }

    @Override
    public String getPath() {
        return location().equals("/") ? "/" : location() + "/";
    }

    @Override
    public NodeType getType() {
        return NodeType.GROUP;
    }

    @Override
    public boolean isLinkCreationOrderTracked() {
        return facts().hasLinkOrder();
    }

    @Override
    public synchronized Map<String, Node> getChildren() {
        if (children != null && nativeFile().isOpen()) {
            return children;
        }
        Map<String, Node> found = new LinkedHashMap<>();
        for (String each : Objects.names(nativeFile(), location())) {
            Node child = listed(each);
            if (child instanceof DatasetNode dataset) {
                dataset.release();
            }
            if (child != null) {
                found.put(each, child);
            }
        }
        found = Collections.unmodifiableMap(found);
        if (!getHdfFile().isWritable()) {
            children = found;
        }
        return found;
    }

    private Node listed(String name) {
        try {
            return find(name);
        } catch (HdfException error) {
            if (!nativeFile().isOpen()) {
                throw error;
            }
            return new UnreadableNode(getHdfFile(), self, name, pathOf(name), error);
        }
    }

    @Override
    public Node getChild(String name) {
        synchronized (this) {
            if (children != null && nativeFile().isOpen()) {
                Node child = children.get(name);
                if (!(child instanceof UnreadableNode)) {
                    return child;
                }
            }
        }
        return name.isEmpty() || name.contains("/") ? null : find(name);
    }

    @Override
    public Iterator<Node> iterator() {
        return getChildren().values().iterator();
    }

    @Override
    public Node getByPath(String path) {
        if (path.startsWith("/") && getParent() != null) {
            // As in jHDF: a path from the root is a mistake here, and the file takes it.
            throw new HdfInvalidPathException(getPath() + path, getHdfFile().pathOrNull());
        }
        return follow(parts(path));
    }

    /** Returns the names of a path. */
    private static List<String> parts(String path) {
        return Arrays.stream(path.split("/"))
                .filter(part -> !part.isEmpty() && !part.equals("."))
                .toList();
    }

    private Node follow(List<String> parts) {
        Node at = self;
        for (String part : parts) {
            Node child = at instanceof Group group ? group.getChild(part) : null;
            if (child == null) {
                String path = getPath() + String.join("/", parts);
                throw new HdfInvalidPathException(path, getHdfFile().pathOrNull());
            }
            at = child instanceof Link link ? link.getTarget() : child;
        }
        return at;
    }

    @Override
    public Dataset getDatasetByPath(String path) {
        if (getByPath(path) instanceof Dataset dataset) {
            return dataset;
        }
        throw new HdfInvalidPathException(getPath() + path, getHdfFile().pathOrNull());
    }

    /** Looks a child up in the file, and returns {@code null} if there is none. */
    private Node find(String name) {
        String at = pathOf(name);
        Objects.LinkFacts link = Objects.link(nativeFile(), at);
        if (link == null) {
            return null;
        }
        return switch (link.kind()) {
            case 0 -> object(name, at);
            case Objects.SOFT -> new SoftLink(link.targets()[0], name, self);
            case Objects.EXTERNAL ->
                    new ExternalLink(link.targets()[1], link.targets()[0], name, self);
            default ->
                    throw new HdfException(
                            "'" + at + "' is a user-defined link of the kind " + link.kind());
        };
    }

    private Node object(String name, String at) {
        Objects.Facts facts = Objects.facts(nativeFile(), at);
        if (facts == null) {
            throw new HdfException("'" + at + "' has no object");
        }
        return switch (facts.kind()) {
            case Objects.GROUP -> new GroupNode(getHdfFile(), self, name, at, facts.address());
            case Objects.DATASET -> DatasetNode.of(getHdfFile(), self, name, at, facts.address());
            default -> new CommittedDatatype(getHdfFile(), self, name, at, facts.address());
        };
    }

    private String pathOf(String name) {
        return location().equals("/") ? "/" + name : location() + "/" + name;
    }

    private String newPath(String name) {
        if (name == null || name.isBlank()) {
            throw new IllegalArgumentException("an object needs a name");
        }
        return pathOf(name);
    }

    /** Returns the node of a new object. Its name may be a path, of which its group is a part. */
    private Node created(String name) {
        List<String> parts = parts(name);
        Node parent = follow(parts.subList(0, parts.size() - 1));
        GroupNode group = parent instanceof FileNode file ? file.root() : (GroupNode) parent;
        String last = parts.get(parts.size() - 1);
        return group.object(last, group.pathOf(last));
    }

    @Override
    public WritableGroup putGroup(String name) {
        Objects.createGroup(nativeFile(), newPath(name));
        return (WritableGroup) created(name);
    }

    @Override
    public WritableDataset putDataset(String name, Object data) {
        return putDataset(name, data, DatasetCreationOptions.DEFAULT);
    }

    @Override
    public WritableDataset putDataset(String name, Object data, DatasetCreationOptions options) {
        String at = newPath(name);
        ArrayData elements = ArrayData.of(data, options.isUnsigned());
        Datasets created = elements.create(nativeFile(), at, options);
        try {
            elements.write(created, new long[elements.shape().length], options.chunk());
        } catch (RuntimeException error) {
            try {
                Objects.delete(nativeFile(), at);
            } catch (HdfException second) {
                error.addSuppressed(second);
            }
            throw error;
        } finally {
            created.release();
        }
        return createdDataset(name);
    }

    @Override
    public WritableDataset putDataset(
            String name, Class<?> type, long[] dimensions, DatasetCreationOptions options) {
        String at = newPath(name);
        ArrayData elements = ArrayData.empty(type, dimensions, options.isUnsigned());
        elements.create(nativeFile(), at, options).release();
        return createdDataset(name);
    }

    /** Returns the node of a new dataset, without keeping the native one open. */
    private WritableDataset createdDataset(String name) {
        DatasetNode dataset = (DatasetNode) created(name);
        dataset.release();
        return dataset;
    }

    @Override
    public void putSoftLink(String name, String target) {
        Objects.createLink(nativeFile(), newPath(name), target, null);
    }

    @Override
    public void remove(String name) {
        Objects.delete(nativeFile(), newPath(name));
    }
}
