package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.DatasetCreationOptions;
import io.github.hyperslab.api.NodeType;
import io.github.hyperslab.api.dataset.ChunkedDataset;
import io.github.hyperslab.exceptions.HdfException;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.Array;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** h5py in both directions. */
class PythonTest {
    private static final String PYTHON = System.getProperty("python", "");

    @TempDir private Path folder;

    @BeforeEach
    void needPython() {
        boolean isThere = Files.isExecutable(Path.of(PYTHON));
        assertTrue(
                isThere || System.getenv("CI") == null,
                "h5py is required here: set -Dpython to an interpreter");
        assumeTrue(isThere, "-Dpython names no interpreter with h5py");
    }

    private void run(String script) throws Exception {
        Process process =
                new ProcessBuilder(PYTHON, "-c", "import h5py, numpy as np\n" + script)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
    }

    @Test
    void h5pyReadsWhatIsWritten() throws Exception {
        try (WritableHdfFile file = HdfFile.write(folder.resolve("ours.h5"))) {
            WriteTest.values().forEach(file::putDataset);
            WriteTest.values().forEach(file::putAttribute);
            file.putGroup("g")
                    .putDataset(
                            "zstd",
                            new float[100][70],
                            DatasetCreationOptions.builder()
                                    .chunkDimensions(30, 30)
                                    .shuffle()
                                    .deflate(3)
                                    .build());
        }
        run(
                """
                with h5py.File("ours.h5") as f:
                    assert f["bytes"].dtype == "i1" and f["bytes"][()].tolist() == [1, -2, 3]
                    assert f["shorts"].dtype == "<i2" and f["shorts"][()].tolist() == [[1, -2], [300, 4]]
                    assert f["ints"].shape == (2, 2, 2) and f["ints"][1, 1, 1] == 1 << 30
                    assert f["longs"][()].tolist() == [1 << 60, -1]
                    assert np.isnan(f["floats"][0, 1]) and f["floats"].dtype == "<f4"
                    assert f["doubles"][0] == np.pi
                    assert f["strings"].asstr()[()].tolist() == ["a", "", "größer", "日本"]
                    assert f["string"].asstr()[()] == "one text"
                    assert f["int"][()] == 42 and f["int"].shape == ()
                    assert f.attrs["ints"].tolist() == f["ints"][()].tolist()
                    assert f.attrs["string"] == b"one text" or f.attrs["string"] == "one text"
                    assert f["truths"][()].tolist() == [1, 0, 1]
                    g = f["g/zstd"]
                    assert g.chunks == (30, 30) and g.shuffle and g.compression == "gzip" and not g[()].any()
                """);
    }

    @Test
    void whatH5pyWritesIsRead() throws Exception {
        run(
                """
                with h5py.File("theirs.h5", "w", track_order=True) as f:
                    f["u8"] = np.array([1 << 63, 3], "u8")
                    f["u1"] = np.array([255, 3], "u1")
                    f["be"] = np.array([1.5, -2], ">f8")
                    f["half"] = np.array([0.1, -65504, np.inf, 6e-8], "f2")
                    f["bool"] = np.array([True, False])
                    f["vlen"] = np.array(["x", "yy", ""], h5py.string_dtype())
                    d = f.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))
                    d[0], d[1] = [1, 2, 3], []
                    t = np.dtype([("n", "i4"), ("xyz", "f8", (3,)), ("s", h5py.string_dtype()), ("in", [("a", "u1")])])
                    c = np.zeros(2, t)
                    c["n"], c["xyz"][1], c["s"], c["in"]["a"] = [5, 6], [1, 2, 3], ["p", "q"], [200, 7]
                    f["compound"] = c
                    f["complex"] = np.array([1 + 2j])
                    f["halves"] = np.array([(6e-8, -3, 250)], [("h", "f2"), ("i", ">i2"), ("u", "u1")])
                    names = h5py.enum_dtype({"below": -1, "above": 1}, "i1")
                    f.create_dataset("names", data=np.array([-1, 1, 0], "i1"), dtype=names)
                    t = h5py.h5t.FORTRAN_S1.copy()
                    t.set_size(5)
                    d = h5py.h5d.create(f.id, b"padded", t, h5py.h5s.create_simple((2,)))
                    d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"ab   ", b" c d "], "S5"), t)
                    f["ref"] = f["u1"].ref
                    f["opaque"] = np.array([b"ab", b"cd"], "V2")
                    f["type"] = np.dtype("f4")
                    for name in "zax":
                        f.attrs[name] = 1
                        f["padded"].attrs[name] = 1
                    f["null"] = h5py.Empty("f4")
                    f["empty"] = np.zeros((0, 3))
                    g = np.longdouble
                    d = f.create_dataset("long double", data=np.array([1.25], g), fillvalue=g(-2.5))
                    d.attrs["a"] = g(0.75)
                    t = h5py.h5t.IEEE_F32LE.copy()
                    t.set_fields(15, 7, 8, 0, 7)
                    t.set_size(2)
                    t.set_ebias(127)
                    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                    p.set_fill_value(np.array(1.5, "f4"))
                    h5py.h5d.create(f.id, b"bfloat16", t, h5py.h5s.create_simple((2,)), p)
                    f.create_dataset("filled", (3,), ">i2", fillvalue=-300, chunks=(2,))
                    f["soft"] = h5py.SoftLink("/u1")
                    f["g/outside"] = h5py.ExternalLink("theirs.h5", "/u1")
                    f["g"].attrs["names"] = ["é", "f"]
                    f["g"].attrs.create("deep", 7, dtype="i2")
                """);
        try (HdfFile file = new HdfFile(folder.resolve("theirs.h5"))) {
            assertArrayEquals(
                    new BigInteger[] {BigInteger.ONE.shiftLeft(63), BigInteger.valueOf(3)},
                    (Object[]) data(file, "u8"));
            assertArrayEquals(new int[] {255, 3}, (int[]) data(file, "u1"));
            assertArrayEquals(new double[] {1.5, -2}, (double[]) data(file, "be"));
            assertArrayEquals(
                    new float[] {0.0999755859375f, -65504, Float.POSITIVE_INFINITY, 5.9604645E-8f},
                    (float[]) data(file, "half"));
            assertArrayEquals(new String[] {"TRUE", "FALSE"}, (String[]) data(file, "bool"));
            assertArrayEquals(new String[] {"x", "yy", ""}, (String[]) data(file, "vlen"));
            assertArrayEquals(
                    new Object[] {new int[] {1, 2, 3}, new int[0]},
                    (Object[]) data(file, "ragged"));
            Map<?, ?> compound = (Map<?, ?>) data(file, "compound");
            assertArrayEquals(new int[] {5, 6}, (int[]) compound.get("n"));
            assertArrayEquals(
                    new double[][] {{0, 0, 0}, {1, 2, 3}}, (double[][]) compound.get("xyz"));
            assertArrayEquals(new String[] {"p", "q"}, (String[]) compound.get("s"));
            assertArrayEquals(
                    new int[] {200, 7}, (int[]) ((Map<?, ?>) compound.get("in")).get("a"));
            Map<?, ?> halves = (Map<?, ?>) data(file, "halves");
            assertArrayEquals(new float[] {5.9604645E-8f}, (float[]) halves.get("h"));
            assertArrayEquals(new short[] {-3}, (short[]) halves.get("i"));
            assertArrayEquals(new int[] {250}, (int[]) halves.get("u"));
            assertArrayEquals(
                    new String[] {"below", "above", null}, (String[]) data(file, "names"));
            assertArrayEquals(new String[] {"ab", " c d"}, (String[]) data(file, "padded"));
            assertArrayEquals(
                    new double[] {2}, (double[]) ((Map<?, ?>) data(file, "complex")).get("i"));
            assertEquals("/u1", file.getNodeByAddress((long) data(file, "ref")).getPath());
            assertArrayEquals(
                    new byte[][] {{'a', 'b'}, {'c', 'd'}}, (byte[][]) data(file, "opaque"));
            assertEquals(NodeType.COMMITTED_DATATYPE, file.getByPath("type").getType());
            assertEquals(
                    float.class,
                    ((CommittedDatatype) file.getByPath("type")).getDataType().getJavaType());
            assertNull(data(file, "null"));
            assertNull(data(file, "empty"));
            assertArrayEquals(new double[] {1.25}, (double[]) data(file, "long double"));
            assertEquals(-2.5, file.getDatasetByPath("long double").getFillValue());
            assertEquals(0.75, file.getByPath("long double").getAttribute("a").getData());
            assertArrayEquals(new float[] {1.5f, 1.5f}, (float[]) data(file, "bfloat16"));
            assertEquals(1.5f, file.getDatasetByPath("bfloat16").getFillValue());
            assertEquals((short) -300, file.getDatasetByPath("filled").getFillValue());
            ChunkedDataset filled = (ChunkedDataset) file.getDatasetByPath("filled");
            assertArrayEquals(
                    new byte[] {(byte) 0xFE, (byte) 0xD4, 0, 0},
                    filled.getDecompressedChunk(new int[] {2}));
            assertArrayEquals(new int[] {255, 3}, (int[]) data(file, "soft"));
            assertArrayEquals(new int[] {255, 3}, (int[]) data(file, "g/outside"));
            assertArrayEquals(
                    new String[] {"é", "f"},
                    (String[]) file.getByPath("g").getAttribute("names").getData());
            assertEquals((short) 7, file.getByPath("g").getAttribute("deep").getData());
            assertTrue(file.isLinkCreationOrderTracked() && file.isAttributeCreationOrderTracked());
            assertEquals(List.of("z", "a", "x"), List.copyOf(file.getAttributes().keySet()));
            Dataset unordered = file.getDatasetByPath("padded");
            assertFalse(unordered.isAttributeCreationOrderTracked());
            assertEquals(
                    List.of("a", "x", "z"), List.copyOf(unordered.getAttributes().keySet()));
        }
    }

    @Test
    void anElementThatNoBufferHoldsHidesNoOtherObject() throws Exception {
        run(
                """
                with h5py.File("huge.h5", "w") as f:
                    t = h5py.h5t.create(h5py.h5t.OPAQUE, 3 << 30)
                    h5py.h5d.create(f.id, b"huge", t, h5py.h5s.create_simple((2,)))
                    f["small"] = 1
                """);
        try (HdfFile file = new HdfFile(folder.resolve("huge.h5"))) {
            assertEquals(Set.of("huge", "small"), file.getChildren().keySet());
            assertEquals(1L, data(file, "small"));
            Dataset huge = file.getDatasetByPath("huge");
            for (Executable use : List.<Executable>of(huge::getSize, huge::getData)) {
                HdfException error = assertThrows(HdfException.class, use);
                assertTrue(error.getMessage().contains("3221225472 bytes"), error.getMessage());
            }
        }
    }

    @Test
    void h5pyAgreesWhereJhdfDiffers() throws Exception {
        Path golden = Path.of(System.getProperty("golden"));
        StringBuilder script = new StringBuilder();
        int number = 0;
        for (String reason : List.of(Differences.FILL, Differences.EMPTY, Differences.NUMBERING)) {
            for (String dataset : Differences.of(reason)) {
                String[] parts = dataset.split(":");
                String name = "values" + number++;
                try (HdfFile file = new HdfFile(golden.resolve(parts[0]))) {
                    Object values = file.getDatasetByPath(parts[1]).getDataFlat();
                    if (!values.getClass().isArray() || values instanceof Object[]) {
                        continue;
                    }
                    ByteBuffer bytes =
                            ByteBuffer.allocate(8 * Array.getLength(values))
                                    .order(ByteOrder.LITTLE_ENDIAN);
                    for (int i = 0; i < Array.getLength(values); i++) {
                        bytes.putDouble(((Number) Array.get(values, i)).doubleValue());
                    }
                    Files.write(folder.resolve(name), bytes.array());
                }
                script.append(
                        "with h5py.File('%s') as f: "
                                        .formatted(golden.resolve(parts[0]).toAbsolutePath())
                                + "np.testing.assert_array_equal(f['%s'][()].ravel(), np.fromfile('%s'))%n"
                                        .formatted(parts[1], name));
            }
        }
        assertTrue(script.toString().lines().count() > 18, script.toString());
        run(script.toString());
    }

    private static Object data(HdfFile file, String path) {
        return ((Dataset) file.getByPath(path)).getData();
    }
}
