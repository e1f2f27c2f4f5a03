package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.hyperslab.exceptions.HdfException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Files by all names, and what they have before their HDF5 part. */
class FileTest {
    private static final byte[] SIGNATURE = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

    @TempDir private Path folder;

    /** Returns a path by the bytes of its name. */
    private Path named(String escaped) {
        return Path.of(URI.create(folder.toUri() + escaped));
    }

    private Path written(String name) {
        Path path = folder.resolve(name);
        try (WritableHdfFile out = HdfFile.write(path)) {
            out.putDataset("d", 7);
        }
        return path;
    }

    @Test
    void aNameThatIsNotInUtf8IsRead() throws IOException {
        Path latin = Files.move(written("ascii.h5"), named("%E9.h5"));
        try (HdfFile file = new HdfFile(latin)) {
            assertEquals(7, file.getDatasetByPath("d").getData());
            assertEquals(latin, file.getFileAsPath());
            assertEquals(Files.size(latin), file.size());
        }
        Path other = named("%E8.h5");
        for (HdfException error :
                List.of(
                        assertThrows(HdfException.class, () -> HdfFile.mapped(latin)),
                        assertThrows(HdfException.class, () -> HdfFile.edit(latin)),
                        assertThrows(HdfException.class, () -> HdfFile.write(other)))) {
            assertTrue(error.getMessage().contains("not in UTF-8"), error.getMessage());
        }
        try (RandomAccessFile sparse = new RandomAccessFile(folder.resolve("4G").toFile(), "rw")) {
            sparse.setLength(1L << 32);
        }
        Path large = Files.move(folder.resolve("4G"), other);
        HdfException error = assertThrows(HdfException.class, () -> new HdfFile(large));
        assertTrue(error.getMessage().contains("more than 2 GiB"), error.getMessage());
    }

    /** Writes a file, finds it in its folder and reads it. */
    static final class Names {
        public static void main(String[] arguments) throws IOException {
            Path path = Path.of(URI.create(arguments[0]));
            try (WritableHdfFile file = HdfFile.write(path)) {
                file.putDataset("d", "written");
            }
            try (WritableHdfFile file = HdfFile.edit(path)) {
                file.putAttribute("a", "edited");
            }
            try (Stream<Path> files = Files.list(path.getParent())) {
                for (Path each : files.toList()) {
                    try (HdfFile file = new HdfFile(each);
                            HdfFile mapped = HdfFile.mapped(each)) {
                        System.out.print(file.getDatasetByPath("d").getData() + ", ");
                        System.out.println(mapped.getAttribute("a").getData());
                    }
                }
            }
        }
    }

    @Test
    void aNameInAnotherEncodingThanThatOfTheLocaleIsTaken() throws Exception {
        Path path = named("%C3%A9%20%25.h5");
        ProcessBuilder builder =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Dhyperslab.jni=" + Hyperslab.binding().equals("JNI"),
                                "-Dhyperslab.native.dir="
                                        + System.getProperty("hyperslab.native.dir"),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Names.class.getName(),
                                path.toUri().toString())
                        .redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("written, edited"), output);
        assertTrue(Files.exists(path));
    }

    @Test
    void aFileInMemoryHasItsUserBlock() throws IOException {
        byte[] plain = Files.readAllBytes(written("plain.h5"));
        byte[] after = new byte[1024 + plain.length];
        Arrays.fill(after, 0, 1024, (byte) 'u');
        System.arraycopy(plain, 0, after, 1024, plain.length);
        for (ByteBuffer bytes :
                List.of(
                        ByteBuffer.wrap(plain),
                        ByteBuffer.wrap(after),
                        ByteBuffer.wrap(after).position(512).slice(),
                        ByteBuffer.wrap(after).position(1024))) {
            int size = bytes.remaining() - plain.length;
            try (HdfFile file = HdfFile.fromByteBuffer(bytes)) {
                assertEquals(7, file.getDatasetByPath("d").getData());
                assertEquals(size, file.getUserBlockSize());
                byte[] block = new byte[size];
                file.getUserBlockBuffer().get(block);
                assertArrayEquals(Arrays.copyOf(after, size), block);
            }
        }
    }

    @Test
    void userBlocksInMemoryAreThoseOfJhdf() throws IOException {
        for (String name : List.of("userblock_2048_earliest.h5", "composed_latest.h5")) {
            byte[] bytes = Files.readAllBytes(Path.of(System.getProperty("golden"), name));
            try (HdfFile file = HdfFile.fromBytes(bytes);
                    io.jhdf.HdfFile same = io.jhdf.HdfFile.fromBytes(bytes)) {
                assertEquals(same.getUserBlockSize(), file.getUserBlockSize());
                assertEquals(same.getUserBlockBuffer(), file.getUserBlockBuffer());
            }
        }
    }

    @Test
    void aUserBlockThatNoBufferHoldsIsAnException() throws IOException {
        Path path = written("block.h5");
        try (HdfFile file = new HdfFile(path)) {
            Files.delete(path);
            try (RandomAccessFile sparse = new RandomAccessFile(path.toFile(), "rw")) {
                sparse.seek(1L << 31);
                sparse.write(SIGNATURE);
            }
            assertEquals(1L << 31, file.getUserBlockSize());
            HdfException error = assertThrows(HdfException.class, file::getUserBlockBuffer);
            assertTrue(error.getMessage().contains("2147483648 bytes"), error.getMessage());
        }
    }
}
