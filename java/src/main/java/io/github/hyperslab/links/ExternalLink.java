package io.github.hyperslab.links;

import io.github.hyperslab.HdfFile;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Node;

import java.nio.file.Path;

/**
 * A link to a path of another file. That file is opened when the target is needed, and closed with
 * this one.
 */
public final class ExternalLink extends AbstractLink {
    private final String targetFile;
    private final String targetPath;

    /**
     * Creates a link.
     *
     * @param targetFile the file, from the folder of the link's file unless it is absolute
     * @param targetPath the path in that file
     * @param name the name of the link
     * @param parent its group
     */
    public ExternalLink(String targetFile, String targetPath, String name, Group parent) {
        super(name, parent);
        this.targetFile = targetFile;
        this.targetPath = targetPath;
    }

    @Override
    Node resolve() {
        Path own = getParent().getFileAsPath().toAbsolutePath();
        HdfFile file = getHdfFile().openExternal(own.resolveSibling(targetFile));
        return file.getByPath(targetPath);
    }

    @Override
    public String getTargetPath() {
        return targetFile + ":" + targetPath;
    }
}
