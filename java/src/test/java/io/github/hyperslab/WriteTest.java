package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.DatasetCreationOptions;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.api.WritableDataset;
import io.github.hyperslab.api.WritableGroup;
import io.github.hyperslab.api.dataset.ChunkedDataset;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.HdfInvalidPathException;
import io.github.hyperslab.exceptions.HdfWritingException;
import io.github.hyperslab.exceptions.InvalidSliceHdfException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What is written here is read by jHDF and by h5py, and what they write is read here. */
class WriteTest {
    @TempDir private Path folder;

    /** Every kind of value that jHDF writes, by name. */
    static Map<String, Object> values() {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("bytes", new byte[] {1, -2, 3});
        values.put("shorts", new short[][] {{1, -2}, {300, 4}});
        values.put("ints", new int[][][] {{{1, 2}, {3, -4}}, {{5, 6}, {7, 1 << 30}}});
        values.put("longs", new long[] {1L << 60, -1});
        values.put("floats", new float[][] {{1.5f, Float.NaN}, {Float.NEGATIVE_INFINITY, -0.0f}});
        values.put("doubles", new double[] {Math.PI, 1e300});
        values.put("boxed", new Integer[] {7, 8, 9});
        values.put("strings", new String[] {"a", "", "größer", "日本"});
        values.put("string", "one text");
        values.put("truths", new boolean[] {true, false, true});
        values.put("int", 42);
        values.put("double", -2.5);
        values.put("long", 1L << 40);
        return values;
    }

    private Path written() {
        Path path = folder.resolve("ours.h5");
        try (WritableHdfFile file = HdfFile.write(path)) {
            values().forEach(file::putDataset);
            WritableGroup group = file.putGroup("group");
            values().forEach(group::putAttribute);
            values().forEach(
                            (name, value) -> {
                                if (value.getClass().isArray()) {
                                    var options =
                                            DatasetCreationOptions.builder()
                                                    .shuffle()
                                                    .deflate(5)
                                                    .build();
                                    group.putDataset("chunked " + name, value, options);
                                }
                            });
            var unsigned = DatasetCreationOptions.builder().unsigned().build();
            group.putDataset("unsigned", new byte[] {-1, 0, 1}, unsigned)
                    .putAttribute("u", new int[] {-1}, true);
        }
        return path;
    }

    @Test
    void jhdfReadsWhatIsWritten() {
        try (io.jhdf.HdfFile file = new io.jhdf.HdfFile(written())) {
            assertValues(
                    name -> file.getDatasetByPath(name).getData(),
                    name -> file.getByPath("group").getAttribute(name).getData());
            values().forEach(
                            (name, value) -> {
                                if (value.getClass().isArray()) {
                                    io.jhdf.api.Dataset chunked =
                                            file.getDatasetByPath("group/chunked " + name);
                                    assertNull(
                                            Values.difference(unboxed(value), chunked.getData()),
                                            name);
                                    assertEquals(2, chunked.getFilters().size());
                                }
                            });
            io.jhdf.api.Dataset unsigned = file.getDatasetByPath("group/unsigned");
            assertArrayEquals(new int[] {255, 0, 1}, (int[]) unsigned.getData());
            assertArrayEquals(
                    new long[] {0xFFFF_FFFFL}, (long[]) unsigned.getAttribute("u").getData());
        }
    }

    @Test
    void whatIsWrittenIsReadHere() {
        try (HdfFile file = new HdfFile(written())) {
            assertValues(
                    name -> file.getDatasetByPath(name).getData(),
                    name -> file.getByPath("group").getAttribute(name).getData());
        }
    }

    @Test
    void whatJhdfWritesIsReadHere() {
        Path path = folder.resolve("theirs.h5");
        try (io.jhdf.WritableHdfFile file = io.jhdf.HdfFile.write(path)) {
            values().forEach(file::putDataset);
            io.jhdf.api.WritableGroup group = file.putGroup("group");
            values().forEach(group::putAttribute);
            group.putDataset(
                    "chunked",
                    new int[100][50],
                    io.jhdf.api.DatasetCreationOptions.builder()
                            .chunkDimensions(30, 20)
                            .shuffle()
                            .deflate()
                            .build());
        }
        try (HdfFile file = new HdfFile(path)) {
            assertValues(
                    name -> file.getDatasetByPath(name).getData(),
                    name -> file.getByPath("group").getAttribute(name).getData());
            ChunkedDataset chunked = (ChunkedDataset) file.getDatasetByPath("group/chunked");
            assertArrayEquals(new int[] {30, 20}, chunked.getChunkDimensions());
            assertArrayEquals(new int[100][50], (int[][]) chunked.getData());
        }
    }

    /** Compares what the datasets and attributes of these names have with {@link #values()}. */
    private static void assertValues(
            Function<String, Object> dataset, Function<String, Object> attribute) {
        values().forEach(
                        (name, value) -> {
                            Object expected = unboxed(value);
                            assertNull(Values.difference(expected, dataset.apply(name)), name);
                            assertNull(Values.difference(expected, attribute.apply(name)), name);
                        });
    }

    private static Object unboxed(Object value) {
        return value instanceof Integer[] boxed
                ? Arrays.stream(boxed).mapToInt(Integer::intValue).toArray()
                : value;
    }

    @Test
    void largeArraysAreWrittenAndReadInParts() {
        Path path = folder.resolve("large.h5");
        // 96 MB: more than one part, and rows that do not end with chunks.
        int[][] values = new int[1201][20_000];
        for (int i = 0; i < values.length; i++) {
            Arrays.setAll(values[i], j -> j);
            values[i][0] = i;
        }
        try (WritableHdfFile file = HdfFile.write(path)) {
            file.putDataset(
                    "chunked",
                    values,
                    DatasetCreationOptions.builder().chunkDimensions(97, 997).deflate(1).build());
            file.putDataset("contiguous", values);
        }
        try (HdfFile file = new HdfFile(path)) {
            for (String name : List.of("chunked", "contiguous")) {
                Dataset dataset = file.getDatasetByPath(name);
                assertArrayEquals(values, (int[][]) dataset.getData(), name);
                int[] flat = (int[]) dataset.getDataFlat();
                for (int i = 0; i < values.length; i++) {
                    assertEquals(
                            -1,
                            Arrays.mismatch(
                                    values[i],
                                    Arrays.copyOfRange(flat, i * 20_000, (i + 1) * 20_000)));
                }
                int[][] slice = (int[][]) dataset.getData(new long[] {50, 3}, new int[] {1100, 2});
                for (int i = 0; i < slice.length; i++) {
                    assertArrayEquals(new int[] {3, 4}, slice[i]);
                }
            }
        }
    }

    @Test
    void partsAreWrittenLater() {
        Path path = folder.resolve("parts.h5");
        var options =
                DatasetCreationOptions.builder()
                        .chunkDimensions(2, 3)
                        .maxDimensions(-1, 6)
                        .deflate(1)
                        .build();
        try (WritableHdfFile file = HdfFile.write(path)) {
            WritableDataset dataset =
                    file.putDataset("d", double.class, new long[] {2, 6}, options);
            dataset.write(new long[] {1, 4}, new double[][] {{1, 2}});
            dataset.resize(4, 6);
            ByteBuffer row = ByteBuffer.allocate(48).order(ByteOrder.nativeOrder());
            for (int i = 0; i < 6; i++) {
                row.putDouble(i);
            }
            dataset.write(Selection.box(new long[] {3, 0}, new long[] {1, 6}), row.flip());
            assertEquals(48, row.position());
            assertThrows(
                    InvalidSliceHdfException.class,
                    () -> dataset.write(new long[] {4, 0}, new double[1][6]));
            assertArrayEquals(new int[] {4, 6}, dataset.getDimensions());
        }
        double[][] expected = {
            {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 1, 2}, new double[6], {0, 1, 2, 3, 4, 5}
        };
        try (HdfFile file = new HdfFile(path)) {
            ChunkedDataset dataset = (ChunkedDataset) file.getDatasetByPath("d");
            assertArrayEquals(expected, (double[][]) dataset.getData());
            assertArrayEquals(new long[] {-1, 6}, dataset.getMaxSize());
            ByteBuffer chunk =
                    ByteBuffer.wrap(dataset.getDecompressedChunk(new int[] {2, 3}))
                            .order(ByteOrder.LITTLE_ENDIAN);
            assertEquals(5.0, chunk.getDouble(5 * 8));
            assertThrows(HdfException.class, () -> dataset.getDecompressedChunk(new int[] {1, 3}));
            assertThrows(HdfException.class, () -> dataset.getRawChunkBuffer(new int[] {4, 0}));
        }
    }

    @Test
    void anExistingFileIsChanged() {
        Path path = written();
        try (WritableHdfFile file = HdfFile.edit(path)) {
            ((WritableDataset) file.getDatasetByPath("ints"))
                    .write(new long[] {1, 1, 1}, new int[][][] {{{99}}});
            WritableGroup group = (WritableGroup) file.getByPath("group");
            assertEquals("one text", group.removeAttribute("string").getData());
            assertNull(group.removeAttribute("string"));
            group.putAttribute("empty", new int[0]);
            Attribute empty = group.removeAttribute("empty");
            assertEquals(0, empty.getSize());
            assertNull(empty.getData());
            Attribute number = group.getAttribute("int");
            assertEquals(42, number.getData());
            group.putAttribute("int", "text now");
            assertEquals("text now", number.getData());
            file.remove("bytes");
            file.putSoftLink("alias", "/ints");
        }
        try (HdfFile file = new HdfFile(path)) {
            assertEquals(99, ((int[][][]) file.getDatasetByPath("alias").getData())[1][1][1]);
            Node group = file.getByPath("group");
            assertNull(group.getAttribute("string"));
            assertEquals("text now", group.getAttribute("int").getData());
            assertNull(file.getChild("bytes"));
            assertThrows(HdfException.class, () -> ((WritableGroup) group).putGroup("new"));
        }
    }

    @Test
    void newObjectsHaveTheNamesAndPathsThatTheyHaveLater() {
        Path path = folder.resolve("names.h5");
        try (WritableHdfFile file = HdfFile.write(path)) {
            WritableGroup group = file.putGroup("g");
            file.putSoftLink("link", "/g");
            assertNode(file.putDataset("a/b", 1), "b", "/a/b", "/a/");
            assertNode(file.putDataset("/c", 1), "c", "/c", "/");
            assertNode(file.putDataset("./link//d", 1), "d", "/g/d", "/g/");
            assertNode(
                    group.putDataset(
                            "e/f",
                            int.class,
                            new long[] {1},
                            DatasetCreationOptions.builder().build()),
                    "f",
                    "/g/e/f",
                    "/g/e/");
            assertNode(file.putGroup("g/h"), "h", "/g/h/", "/g/");
            assertNode(file.putGroup("i/"), "i", "/i/", "/");
            file.putGroup("j/k").putAttribute("a", 1);
            assertEquals(1, file.getByPath("j/k").getAttribute("a").getData());
            assertThrows(HdfException.class, () -> file.putGroup("/"));
        }
    }

    private static void assertNode(Node node, String name, String path, String parent) {
        assertEquals(name, node.getName());
        assertEquals(path, node.getPath());
        assertEquals(parent, node.getParent().getPath());
        assertEquals(name, node.getHdfFile().getByPath(path).getName());
    }

    @Test
    void aWritableFileIsTheGroupOfItsObjects() {
        try (WritableHdfFile file = HdfFile.write(folder.resolve("root.h5"))) {
            assertSame(file, file.putDataset("d", 1).getParent());
            assertSame(file, file.putGroup("g").getParent());
            assertSame(file, file.getByPath("/"));
            assertSame(file, file.getChild("g").getParent());
            ((WritableGroup) file.getByPath("/")).putDataset("e", 2);
            assertEquals(2, file.getDatasetByPath("e").getData());
        }
        try (HdfFile file = new HdfFile(folder.resolve("root.h5"))) {
            assertSame(file, file.getByPath("/"));
            assertSame(file, file.getChild("d").getParent());
        }
    }

    @Test
    void pathsFromTheRootAreTakenByTheFile() {
        Path path = folder.resolve("paths.h5");
        try (WritableHdfFile file = HdfFile.write(path)) {
            file.putGroup("g").putDataset("x", 1);
        }
        try (HdfFile file = new HdfFile(path);
                io.jhdf.HdfFile same = new io.jhdf.HdfFile(path)) {
            Group group = (Group) file.getByPath("/g");
            io.jhdf.api.Group sameGroup = (io.jhdf.api.Group) same.getByPath("/g");
            assertEquals(1, group.getDatasetByPath("x").getData());
            for (String each : List.of("/x", "/g/x", "/", "//x")) {
                assertThrows(HdfInvalidPathException.class, () -> group.getByPath(each));
                assertThrows(HdfInvalidPathException.class, () -> group.getDatasetByPath(each));
                assertThrows(
                        io.jhdf.exceptions.HdfInvalidPathException.class,
                        () -> sameGroup.getByPath(each));
            }
        }
    }

    @Test
    void aDatasetThatWasRemovedIsNoClosedFile() {
        try (WritableHdfFile file = HdfFile.write(folder.resolve("removed.h5"))) {
            Dataset dataset = file.putDataset("d", new int[] {1, 2});
            dataset.getData();
            file.remove("d");
            HdfException error = assertThrows(HdfException.class, dataset::getData);
            assertFalse(error.getMessage().contains("closed"), error.getMessage());
            assertTrue(error.getMessage().contains("delete"), error.getMessage());
        }
    }

    @Test
    void filesAreWrittenOnlyInTheDefaultFileSystem() throws IOException {
        try (FileSystem zip =
                FileSystems.newFileSystem(folder.resolve("a.zip"), Map.of("create", "true"))) {
            Path same = folder.resolve("same.h5");
            Path inside = zip.getPath(same.toString());
            assertThrows(HdfException.class, () -> HdfFile.write(inside));
            assertThrows(HdfException.class, () -> HdfFile.edit(inside));
            assertThrows(HdfException.class, () -> HdfFile.mapped(inside));
            assertFalse(Files.exists(same));
        }
    }

    @Test
    void optionsOfAnotherRankAreAnException() {
        try (WritableHdfFile file = HdfFile.write(folder.resolve("rank.h5"))) {
            var options =
                    List.of(
                            DatasetCreationOptions.builder().chunkDimensions(5),
                            DatasetCreationOptions.builder().chunkDimensions(5, 3, 1),
                            DatasetCreationOptions.builder().maxDimensions(-1),
                            DatasetCreationOptions.builder().maxDimensions(-1, 3, 9),
                            DatasetCreationOptions.builder()
                                    .chunkDimensions(5, 3)
                                    .maxDimensions(-1));
            for (DatasetCreationOptions.Builder each : options) {
                HdfWritingException error =
                        assertThrows(
                                HdfWritingException.class,
                                () -> file.putDataset("d", new int[10][3], each.build()));
                assertTrue(error.getMessage().contains("2 dimensions"), error.getMessage());
                assertThrows(
                        HdfWritingException.class,
                        () -> file.putDataset("d", int.class, new long[2], each.build()));
            }
            assertEquals(0, file.getChildren().size());
        }
    }

    @Test
    void whatHasNoDatatypeIsAnException() {
        try (WritableHdfFile file = HdfFile.write(folder.resolve("bad.h5"))) {
            for (Object value :
                    new Object[] {
                        new int[][] {{1}, {1, 2}},
                        new Object(),
                        new String[] {"a", null},
                        new int[][] {{1}, null}
                    }) {
                assertThrows(HdfWritingException.class, () -> file.putDataset("d", value));
                assertThrows(HdfWritingException.class, () -> file.putAttribute("a", value));
            }
            file.putDataset("twice", 1);
            assertThrows(HdfWritingException.class, () -> file.putDataset("twice", 1));
            var unsigned = DatasetCreationOptions.builder().unsigned().build();
            assertThrows(
                    HdfWritingException.class, () -> file.putDataset("f", new float[1], unsigned));
            assertThrows(IllegalArgumentException.class, () -> file.putGroup(" "));
            assertThrows(HdfException.class, () -> file.putGroup("zero\0byte"));
            assertThrows(HdfException.class, () -> file.getChild("twice\0"));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> DatasetCreationOptions.builder().filter(65_537, 4));
            assertEquals(1, file.getChildren().size());
        }
    }
}
