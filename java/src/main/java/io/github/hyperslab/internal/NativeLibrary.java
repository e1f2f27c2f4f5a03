package io.github.hyperslab.internal;

import io.github.hyperslab.exceptions.HdfException;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * Finds the native library: the file that the property {@code hyperslab.native.path} names, or the
 * resource of the jar of this platform.
 *
 * <p>The resource is copied to a file named by its hash, in the folder that the property {@code
 * hyperslab.native.dir} names, or in the user's cache. A file that is there already is used if it
 * has that hash, so processes share it, and versions do not disturb each other.
 */
final class NativeLibrary {
    private static final String FOLDER = "hyperslab.native.dir";

    private NativeLibrary() {}

    static Path find() {
        String given = System.getProperty("hyperslab.native.path");
        if (given != null) {
            Path path = Path.of(given).toAbsolutePath();
            if (!Files.isRegularFile(path)) {
                throw new HdfException("hyperslab.native.path: no such file: " + path);
            }
            return path;
        }
        String resource = "/io/github/hyperslab/natives/" + platform() + "/" + fileName();
        try (InputStream in = NativeLibrary.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new HdfException(
                        "no native library for "
                                + platform()
                                + ": add the jar"
                                + " io.github.hyperslab:hyperslab with the classifier "
                                + platform()
                                + " to the class path");
            }
            return unpacked(in.readAllBytes());
        } catch (IOException error) {
            throw new HdfException(
                    "the native library cannot be unpacked; set the property hyperslab.native.dir to a"
                            + " folder that can be written and from which libraries may be loaded",
                    error);
        }
    }

    /** Returns the classifier of the jar for this machine, such as {@code linux-x86_64}. */
    static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        String of =
                system.startsWith("windows")
                        ? "windows"
                        : system.startsWith("mac") ? "macos" : "linux";
        return of
                + "-"
                + (machine.equals("amd64") || machine.equals("x86_64") ? "x86_64" : machine);
    }

    private static String fileName() {
        return System.mapLibraryName("hyperslab_jni");
    }

    private static Path unpacked(byte[] library) throws IOException {
        String name = hash(library) + "-" + fileName();
        Path folder = folder();
        Files.createDirectories(folder);
        Path file = folder.resolve(name);
        if (!isWhole(file, library)) {
            Path part = Files.createTempFile(folder, "part", ".tmp");
            try {
                Files.write(part, library);
                if (System.getProperty(FOLDER) != null) {
                    makeReadable(part);
                }
                moveTo(part, file);
            } finally {
                Files.deleteIfExists(part);
            }
        }
        return file;
    }

    /** Several users may share a folder that was named; a temporary file is of one alone. */
    private static void makeReadable(Path file) throws IOException {
        var view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        if (view != null) { // Windows has none.
            view.setPermissions(PosixFilePermissions.fromString("rw-r--r--"));
        }
    }

    private static boolean isWhole(Path file, byte[] library) throws IOException {
        return Files.isRegularFile(file)
                && Files.size(file) == library.length
                && MessageDigest.isEqual(Files.readAllBytes(file), library);
    }

    /** Another process may do the same at the same time; its file has the same bytes. */
    private static void moveTo(Path part, Path file) throws IOException {
        try {
            Files.move(
                    part,
                    file,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException | FileAlreadyExistsException error) {
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static Path folder() {
        String given = System.getProperty(FOLDER);
        if (given != null) {
            return Path.of(given).toAbsolutePath();
        }
        String cache = System.getenv("XDG_CACHE_HOME");
        if (cache == null || cache.isEmpty()) {
            cache = Path.of(System.getProperty("user.home"), ".cache").toString();
        }
        return Path.of(cache).toAbsolutePath().resolve("hyperslab");
    }

    private static String hash(byte[] bytes) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes))
                    .substring(0, 32);
        } catch (NoSuchAlgorithmException error) {
            // Every Java platform has SHA-256.
            throw new IllegalStateException(error);
        }
    }
}
