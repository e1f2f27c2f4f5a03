package io.github.hyperslab;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.DatasetCreationOptions;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.api.NodeType;
import io.github.hyperslab.api.WritableDataset;
import io.github.hyperslab.api.WritableGroup;
import io.github.hyperslab.internal.NativeFile;

import java.io.File;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;

/**
 * A file that is open for writing, which is also its root group.
 *
 * <pre>{@code
 * try (WritableHdfFile file = HdfFile.write(Path.of("new.h5"))) {
 *     file.putDataset("ints", new int[] {1, 2, 3}).putAttribute("unit", "m");
 *     file.putGroup("group").putDataset("doubles", new double[2][3]);
 * }
 * }</pre>
 *
 * <p>Elements are written at once, and what was written can be read. {@link #flush()} and {@link
 * #close()} commit: after a crash the file has what the last of them wrote.
 */
public final class WritableHdfFile implements WritableGroup, AutoCloseable {
    private final HdfFile file;

    WritableHdfFile(Path path, int mode) {
        file = new HdfFile(NativeFile.open(HdfFile.local(path), mode), path, true, -1);
    }

    /** Writes to the disk what was not written yet. */
    public void flush() {
        file.nativeFile().flush();
    }

    /** Commits all changes and closes the file. A second call does nothing. */
    @Override
    public void close() {
        file.close();
    }

    @Override
    public WritableDataset putDataset(String name, Object data) {
        return file.root().putDataset(name, data);
    }

    @Override
    public WritableDataset putDataset(String name, Object data, DatasetCreationOptions options) {
        return file.root().putDataset(name, data, options);
    }

    @Override
    public WritableDataset putDataset(
            String name, Class<?> type, long[] dimensions, DatasetCreationOptions options) {
        return file.root().putDataset(name, type, dimensions, options);
    }

    @Override
    public WritableGroup putGroup(String name) {
        return file.root().putGroup(name);
    }

    @Override
    public void putSoftLink(String name, String target) {
        file.root().putSoftLink(name, target);
    }

    @Override
    public void remove(String name) {
        file.root().remove(name);
    }

    @Override
    public Attribute putAttribute(String name, Object data) {
        return file.root().putAttribute(name, data);
    }

    @Override
    public Attribute putAttribute(String name, Object data, boolean unsigned) {
        return file.root().putAttribute(name, data, unsigned);
    }

    @Override
    public Attribute removeAttribute(String name) {
        return file.root().removeAttribute(name);
    }

    @Override
    public Map<String, Node> getChildren() {
        return file.root().getChildren();
    }

    @Override
    public Node getChild(String name) {
        return file.root().getChild(name);
    }

    @Override
    public Node getByPath(String path) {
        return file.root().getByPath(path);
    }

    @Override
    public Dataset getDatasetByPath(String path) {
        return file.root().getDatasetByPath(path);
    }

    @Override
    public Iterator<Node> iterator() {
        return file.root().iterator();
    }

    @Override
    public boolean isLinkCreationOrderTracked() {
        return file.root().isLinkCreationOrderTracked();
    }

    @Override
    public Map<String, Attribute> getAttributes() {
        return file.root().getAttributes();
    }

    @Override
    public Attribute getAttribute(String name) {
        return file.root().getAttribute(name);
    }

    @Override
    public long getAddress() {
        return file.root().getAddress();
    }

    @Override
    public boolean isAttributeCreationOrderTracked() {
        return file.root().isAttributeCreationOrderTracked();
    }

    @Override
    public Group getParent() {
        return null;
    }

    @Override
    public String getName() {
        return file.getName();
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
    public File getFile() {
        return file.getFile();
    }

    @Override
    public Path getFileAsPath() {
        return file.getFileAsPath();
    }

    @Override
    public HdfFile getHdfFile() {
        return file;
    }

    @Override
    public boolean isLink() {
        return false;
    }
}
