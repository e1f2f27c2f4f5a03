package io.github.hyperslab.exceptions;

import java.io.File;
import java.nio.file.FileSystems;
import java.nio.file.Path;

/** A path at which a file has no object, or an object of another kind. */
public class HdfInvalidPathException extends HdfException {
    private static final long serialVersionUID = 1L;

    /** The path within the file. */
    private final String path;

    private final transient Path file;

    /**
     * Creates the exception.
     *
     * @param path the path within the file
     * @param file the file, or {@code null} for a file in memory
     */
    public HdfInvalidPathException(String path, Path file) {
        super(
                "no such object: '"
                        + path
                        + "' in "
                        + (file == null ? "a file in memory" : file.toAbsolutePath()));
        this.path = path;
        this.file = file;
    }

    /**
     * Returns the path that was not found.
     *
     * @return the path within the file
     */
    public String getPath() {
        return path;
    }

    /**
     * Returns the file.
     *
     * @return the file, or {@code null} if it is not in the default file system
     */
    public File getFile() {
        return file != null && file.getFileSystem() == FileSystems.getDefault()
                ? file.toFile()
                : null;
    }

    /**
     * Returns the path of the file.
     *
     * @return the path, or {@code null} for a file in memory
     */
    public Path getFileAsPath() {
        return file;
    }
}
