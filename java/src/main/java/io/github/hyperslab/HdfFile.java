package io.github.hyperslab;

import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.InMemoryHdfException;
import io.github.hyperslab.internal.NativeFile;
import io.github.hyperslab.internal.Objects;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/**
 * An open HDF5 file, which is also its root group.
 *
 * <pre>{@code
 * try (HdfFile file = new HdfFile(Path.of("climate.h5"))) {
 *     Dataset t2m = file.getDatasetByPath("/t2m");
 *     float[][][] plane = (float[][][]) t2m.getData(new long[] {0, 100, 0}, new int[] {365, 1, 1440});
 * }
 * }</pre>
 *
 * <p>Files and all that they lead to may be used by several threads. {@link #close()} waits for
 * reads that run; after it, every use is an {@link HdfException}. A file that becomes unreachable
 * without being closed is closed by the garbage collector, at some time.
 */
public final class HdfFile extends FileNode {
    private static final int FIRST_USER_BLOCK = 512;

    /** Longer arrays do not fit every Java. */
    private static final int LARGEST_IN_MEMORY = Integer.MAX_VALUE - 8;

    private static final byte[] SIGNATURE = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

    private final NativeFile file;
    private final Path path;
    private final boolean isWritable;

    /** The size of a file in memory, or -1. */
    private final long bytes;

    /** What a file in memory has before its HDF5 part, or {@code null}. */
    private final byte[] userBlock;

    private final GroupNode root;
    private final Map<Path, HdfFile> external = new HashMap<>();

    /**
     * Opens a file for reading.
     *
     * @param file the file
     * @throws HdfException if it cannot be read, or is no HDF5 file
     */
    public HdfFile(File file) {
        this(file.toPath());
    }

    /**
     * Opens a file for reading.
     *
     * @param uri the file, such as {@code file:///data/climate.h5}
     * @throws HdfException if it cannot be read, or is no HDF5 file
     */
    public HdfFile(URI uri) {
        this(Path.of(uri));
    }

    /**
     * Opens a file for reading. A path that is not in the default file system, or whose name is not
     * in UTF-8, is read into memory.
     *
     * @param path the path
     * @throws HdfException if it cannot be read, or is no HDF5 file
     */
    public HdfFile(Path path) {
        this(opened(path), path, null);
    }

    /** A file on disk, which is open for writing if it is that of a writable file. */
    HdfFile(NativeFile file, Path path, WritableHdfFile writable) {
        this(file, path, writable, -1, null);
    }

    private HdfFile(
            NativeFile file,
            Path path,
            WritableHdfFile writable,
            long bytes,
            byte[] userBlock) {
        this.file = file;
        this.path = path;
        this.isWritable = writable != null;
        this.bytes = bytes;
        this.userBlock = userBlock;
        try {
            FileNode self = isWritable ? writable : this;
            root = new GroupNode(this, self, Objects.facts(file, "/").address());
        } catch (RuntimeException error) {
            file.close();
            throw error;
        }
    }

    /** Opens a path in the native library, which needs it in the default file system. */
    static NativeFile local(Path path, int mode) {
        return NativeFile.open(local(path), mode);
    }

    private static String local(Path path) {
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw new HdfException(
                    "'"
                            + path
                            + "' is not in the default file system: copy the file there,"
                            + " or open it for reading by new HdfFile");
        }
        String name = nativeName(path);
        if (name == null) {
            throw new HdfException(
                    "the name of '"
                            + path
                            + "' is not in UTF-8: rename the file,"
                            + " or open it for reading by new HdfFile");
        }
        return name;
    }

    /**
     * Returns the name of a path of the default file system for the native library, which takes
     * UTF-8; {@code null} if the name is not in UTF-8. The text of a path is in the encoding of the
     * locale, and has question marks or other letters where that is not the encoding of the name:
     * so other names than those in ASCII are taken from the URI, which has their bytes.
     */
    private static String nativeName(Path path) {
        String text = path.toString();
        boolean isAscii = text.chars().allMatch(letter -> letter < 0x80);
        if (isAscii || !path.getFileSystem().getSeparator().equals("/")) {
            return text;
        }
        String uri = path.toUri().getRawPath();
        ByteBuffer name = ByteBuffer.allocate(uri.length());
        for (int i = 0; i < uri.length(); i++) {
            boolean isEscaped = uri.charAt(i) == '%';
            int at = isEscaped ? HexFormat.fromHexDigits(uri, i + 1, i + 3) : uri.charAt(i);
            name.put((byte) at);
            i += isEscaped ? 2 : 0;
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(name.flip()).toString();
        } catch (CharacterCodingException error) {
            return null;
        }
    }

    private static NativeFile opened(Path path) {
        if (path.getFileSystem() == FileSystems.getDefault()) {
            String name = nativeName(path);
            if (name != null) {
                return NativeFile.open(name, NativeFile.READ);
            }
        }
        try {
            if (Files.size(path) > LARGEST_IN_MEMORY) {
                throw new HdfException(
                        "open '"
                                + path
                                + "': a file of more than 2 GiB must be in the default file system"
                                + " and have a name in UTF-8");
            }
            return NativeFile.open(ByteBuffer.wrap(Files.readAllBytes(path)));
        } catch (IOException error) {
            throw new HdfException("open '" + path + "': " + error.getMessage(), error);
        }
    }

    /**
     * Opens a file for reading by mapping it into memory. That is the fastest way for data without
     * filters that are read again and again.
     *
     * <p>By calling this you promise that no program changes or cuts the file while it is open, nor
     * the files that it names in external links and virtual datasets, which are mapped too. If one
     * does, the behaviour is undefined: elements may be wrong, and the system ends the whole Java
     * process when it uses bytes that were cut. What is appended later is not seen.
     *
     * @param path the path in the default file system
     * @return the open file
     * @throws HdfException if it cannot be mapped, or is no HDF5 file
     */
    public static HdfFile mapped(Path path) {
        return new HdfFile(NativeFile.openMapped(local(path)), path, null);
    }

    /**
     * Opens a file that is in memory.
     *
     * @param bytes the file, which is copied
     * @return the open file
     */
    public static HdfFile fromBytes(byte[] bytes) {
        return fromByteBuffer(ByteBuffer.wrap(bytes));
    }

    /**
     * Opens a file that is in memory.
     *
     * @param buffer the file, from the position to the limit, which is copied
     * @return the open file
     */
    public static HdfFile fromByteBuffer(ByteBuffer buffer) {
        return new HdfFile(
                NativeFile.open(buffer), null, null, buffer.remaining(), userBlock(buffer.slice()));
    }

    /** Returns a copy of what is before the signature of HDF5. */
    private static byte[] userBlock(ByteBuffer file) {
        ByteBuffer signature = ByteBuffer.wrap(SIGNATURE);
        long at = 0;
        while (at + SIGNATURE.length <= file.limit()
                && !file.slice((int) at, SIGNATURE.length).equals(signature)) {
            at = at == 0 ? FIRST_USER_BLOCK : 2 * at;
        }
        byte[] before = new byte[(int) Math.min(at, file.limit())];
        file.get(before);
        return before;
    }

    /**
     * Reads a stream to its end and opens it as a file in memory.
     *
     * @param stream the stream, which is not closed
     * @return the open file
     */
    public static HdfFile fromInputStream(InputStream stream) {
        try {
            return fromBytes(stream.readAllBytes());
        } catch (IOException error) {
            throw new HdfException("the stream cannot be read: " + error.getMessage(), error);
        }
    }

    /**
     * Creates a file, which replaces an existing one.
     *
     * @param path the path
     * @return the file, open for writing
     */
    public static WritableHdfFile write(Path path) {
        return new WritableHdfFile(path, NativeFile.CREATE);
    }

    /**
     * Opens an existing file for reading and writing.
     *
     * @param path the path
     * @return the file, open for writing
     */
    public static WritableHdfFile edit(Path path) {
        return new WritableHdfFile(path, NativeFile.WRITE);
    }

    NativeFile nativeFile() {
        return file;
    }

    boolean isWritable() {
        return isWritable;
    }

    Path pathOrNull() {
        return path;
    }

    @Override
    GroupNode root() {
        return root;
    }

    /**
     * Opens a file that an external link of this file names. It is closed with this file.
     *
     * @param path the path of the file
     * @return the open file
     */
    public HdfFile openExternal(Path path) {
        synchronized (external) {
            if (!file.isOpen()) {
                throw new HdfException("'" + getName() + "' is closed");
            }
            return external.computeIfAbsent(path, HdfFile::new);
        }
    }

    /**
     * Closes the file, and files that its external links have opened. A second call does nothing.
     */
    @Override
    public void close() {
        synchronized (external) {
            try {
                external.values().forEach(HdfFile::close);
                external.clear();
            } finally {
                file.close();
            }
        }
    }

    /**
     * Returns the size of the file.
     *
     * @return the number of bytes
     */
    public long size() {
        try {
            return bytes >= 0 ? bytes : Files.size(path);
        } catch (IOException error) {
            throw new HdfException(
                    "the size of '" + path + "' cannot be found: " + error.getMessage(), error);
        }
    }

    /**
     * Tells whether the file is in memory.
     *
     * @return {@code true} if it has no path
     */
    public boolean inMemory() {
        return path == null;
    }

    /**
     * Returns the size of the bytes before the HDF5 part of the file.
     *
     * @return the number of bytes, 0 without a user block
     */
    public long getUserBlockSize() {
        if (inMemory()) {
            return userBlock.length;
        }
        try (var channel = Files.newByteChannel(path)) {
            ByteBuffer found = ByteBuffer.allocate(SIGNATURE.length);
            for (long at = 0; at < channel.size(); at = at == 0 ? FIRST_USER_BLOCK : 2 * at) {
                channel.position(at);
                found.clear();
                while (found.hasRemaining() && channel.read(found) >= 0) {
                    // The rest of the signature follows.
                }
                if (java.util.Arrays.equals(found.array(), SIGNATURE)) {
                    return at;
                }
            }
            throw new HdfException("'" + path + "' has no signature of HDF5 any more");
        } catch (IOException error) {
            throw new HdfException(
                    "the user block of '" + path + "' cannot be read: " + error.getMessage(),
                    error);
        }
    }

    /**
     * Reads the bytes before the HDF5 part of the file.
     *
     * @return the bytes
     */
    public ByteBuffer getUserBlockBuffer() {
        if (inMemory()) {
            return ByteBuffer.wrap(userBlock.clone());
        }
        long size = getUserBlockSize();
        if (size > Integer.MAX_VALUE) {
            throw new HdfException(
                    "the user block of '"
                            + path
                            + "' has "
                            + size
                            + " bytes, more than a buffer: read them from the file");
        }
        try (InputStream in = Files.newInputStream(path)) {
            return ByteBuffer.wrap(in.readNBytes((int) size));
        } catch (IOException error) {
            throw new HdfException(
                    "the user block of '" + path + "' cannot be read: " + error.getMessage(),
                    error);
        }
    }

    /**
     * Returns the node with an address, which object references are.
     *
     * @param address the address of the object's header
     * @return the node, at one of its paths
     * @throws HdfException if no object of this file has the address
     */
    public Node getNodeByAddress(long address) {
        return getByPath(Objects.pathAt(file, address));
    }

    @Override
    public String getName() {
        return path == null || path.getFileName() == null
                ? "In-Memory no backing file"
                : path.getFileName().toString();
    }

    @Override
    public File getFile() {
        return getFileAsPath().getFileSystem() == FileSystems.getDefault() ? path.toFile() : null;
    }

    @Override
    public Path getFileAsPath() {
        if (path == null) {
            throw new InMemoryHdfException();
        }
        return path;
    }

    @Override
    public HdfFile getHdfFile() {
        return this;
    }

    @Override
    public String toString() {
        return "HdfFile [file=" + getName() + "]";
    }
}
