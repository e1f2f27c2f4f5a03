package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.hyperslab.exceptions.HdfException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** How the native library is found and called. */
class BindingTest {
    @Test
    void theBindingIsThatOfTheVersionOfJava() {
        boolean isForced = Boolean.getBoolean("hyperslab.jni");
        assertEquals(
                Runtime.version().feature() >= 22 && !isForced ? "FFM" : "JNI",
                Hyperslab.binding());
        assertTrue(Hyperslab.version().matches("\\d+\\.\\d+\\.\\d+.*"), Hyperslab.version());
    }

    @Test
    void theLibraryIsUnpackedToAFileNamedByItsHash() throws Exception {
        assertNotNull(Hyperslab.version());
        List<Path> found;
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("hyperslab.native.dir")))) {
            found = files.filter(path -> path.toString().endsWith(".so")).toList();
        }
        assertTrue(!found.isEmpty());
        for (Path path : found) {
            String hash =
                    HexFormat.of()
                            .formatHex(
                                    MessageDigest.getInstance("SHA-256")
                                            .digest(Files.readAllBytes(path)));
            assertEquals(hash.substring(0, 32), path.getFileName().toString().split("-")[0]);
        }
        assertEquals(1, loaded(found), "the library that runs is one of " + found);
    }

    private static long loaded(List<Path> candidates) throws IOException {
        String maps = Files.readString(Path.of("/proc/self/maps"));
        return candidates.stream()
                .filter(path -> maps.contains(path.getFileName().toString()))
                .count();
    }

    /** Prints the version of the native library. */
    static final class Version {
        public static void main(String[] arguments) {
            System.out.println(Hyperslab.version());
        }
    }

    @Test
    void aFileThatIsNotTheLibraryIsReplaced(@TempDir Path folder) throws Exception {
        assertNotNull(Hyperslab.version());
        String maps = Files.readString(Path.of("/proc/self/maps"));
        Path unpacked;
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("hyperslab.native.dir")))) {
            unpacked =
                    files.filter(path -> maps.contains(path.getFileName().toString()))
                            .findFirst()
                            .orElseThrow();
        }
        Path bad = folder.resolve(unpacked.getFileName());
        Files.write(bad, new byte[(int) Files.size(unpacked)]);
        String output = version("-Dhyperslab.native.dir=" + folder);
        assertTrue(output.contains(Hyperslab.version()), output);
        assertEquals(-1, Files.mismatch(bad, unpacked));
        // Other users may use a folder that was named.
        var permissions = Files.getPosixFilePermissions(bad);
        assertEquals("rw-r--r--", PosixFilePermissions.toString(permissions));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(1, files.count());
        }
    }

    /** Runs {@link Version} in another process with an option, and returns what it prints. */
    private static String version(String option) throws IOException {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                option,
                                "-Dhyperslab.jni=" + Hyperslab.binding().equals("JNI"),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Version.class.getName())
                        .redirectErrorStream(true)
                        .start();
        return new String(process.getInputStream().readAllBytes());
    }

    @Test
    void aLibraryThatCannotBeLoadedIsAnException(@TempDir Path folder) throws Exception {
        Path other = folder.resolve("libother.so");
        Files.copy(Path.of(System.getProperty("java.home"), "lib", "libjimage.so"), other);
        String output = version("-Dhyperslab.native.path=" + other);
        assertTrue(output.contains("main\" " + HdfException.class.getName()), output);
        if (Runtime.version().feature() >= 24) {
            output = version("--illegal-native-access=deny");
            assertTrue(output.contains("start it with --enable-native-access"), output);
        }
    }
}
