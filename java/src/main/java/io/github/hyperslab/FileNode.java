package io.github.hyperslab;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.api.NodeType;

import java.util.Iterator;
import java.util.Map;

/** A file as its own root group. */
abstract class FileNode implements Group, AutoCloseable {
    abstract GroupNode root();

    @Override
    public abstract void close();

    @Override
    public Group getParent() {
        return null;
    }

    @Override
    public String getPath() {
        return "/";
    }

    @Override
    public NodeType getType() {
        return NodeType.FILE;
    }

    @Override
    public boolean isGroup() {
        return true;
    }

    @Override
    public Map<String, Node> getChildren() {
        return root().getChildren();
    }

    @Override
    public Node getChild(String name) {
        return root().getChild(name);
    }

    @Override
    public Node getByPath(String path) {
        return root().getByPath(path);
    }

    @Override
    public Dataset getDatasetByPath(String path) {
        return root().getDatasetByPath(path);
    }

    @Override
    public Iterator<Node> iterator() {
        return root().iterator();
    }

    @Override
    public boolean isLinkCreationOrderTracked() {
        return root().isLinkCreationOrderTracked();
    }

    @Override
    public Map<String, Attribute> getAttributes() {
        return root().getAttributes();
    }

    @Override
    public Attribute getAttribute(String name) {
        return root().getAttribute(name);
    }

    @Override
    public long getAddress() {
        return root().getAddress();
    }

    @Override
    public boolean isAttributeCreationOrderTracked() {
        return root().isAttributeCreationOrderTracked();
    }
}
