package io.github.hyperslab;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.DatasetCreationOptions;
import io.github.hyperslab.api.WritableDataset;
import io.github.hyperslab.api.WritableGroup;
import io.github.hyperslab.internal.NativeFile;

import java.nio.file.Path;

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
public final class WritableHdfFile extends FileNode implements WritableGroup {
    private final HdfFile file;

    WritableHdfFile(Path path, int mode) {
        file = new HdfFile(HdfFile.local(path, mode), path, this);
    }

    @Override
    GroupNode root() {
        return file.root();
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
        return root().putDataset(name, data);
    }

    @Override
    public WritableDataset putDataset(String name, Object data, DatasetCreationOptions options) {
        return root().putDataset(name, data, options);
    }

    @Override
    public WritableDataset putDataset(
            String name, Class<?> type, long[] dimensions, DatasetCreationOptions options) {
        return root().putDataset(name, type, dimensions, options);
    }

    @Override
    public WritableGroup putGroup(String name) {
        return root().putGroup(name);
    }

    @Override
    public void putSoftLink(String name, String target) {
        root().putSoftLink(name, target);
    }

    @Override
    public void remove(String name) {
        root().remove(name);
    }

    @Override
    public Attribute putAttribute(String name, Object data) {
        return root().putAttribute(name, data);
    }

    @Override
    public Attribute putAttribute(String name, Object data, boolean unsigned) {
        return root().putAttribute(name, data, unsigned);
    }

    @Override
    public Attribute removeAttribute(String name) {
        return root().removeAttribute(name);
    }

    @Override
    public String getName() {
        return file.getName();
    }

    @Override
    public HdfFile getHdfFile() {
        return file;
    }
}
