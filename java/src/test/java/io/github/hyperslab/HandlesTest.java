package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.DatasetCreationOptions;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Link;
import io.github.hyperslab.api.WritableDataset;
import io.github.hyperslab.api.dataset.ChunkedDataset;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.internal.Objects;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/** Files are closed once, hold nothing afterwards, and may be used by several threads. */
class HandlesTest {
    private static final int[] SHAPE = {40, 30, 20};
    private static final int TURNS = 4000;

    @TempDir private Path folder;

    private Path file;

    @BeforeEach
    void makeFile() {
        file = folder.resolve("cube.h5");
        try (WritableHdfFile out = HdfFile.write(file)) {
            var options =
                    DatasetCreationOptions.builder()
                            .chunkDimensions(16, 16, 16)
                            .shuffle()
                            .deflate(1)
                            .build();
            out.putDataset("cube", cube(), options).putAttribute("unit", "m/s");
            out.putDataset("names", new String[] {"a", "bc"});
        }
    }

    private static float[][][] cube() {
        float[][][] cube = new float[SHAPE[0]][SHAPE[1]][SHAPE[2]];
        for (int i = 0; i < SHAPE[0]; i++) {
            for (int j = 0; j < SHAPE[1]; j++) {
                for (int k = 0; k < SHAPE[2]; k++) {
                    cube[i][j][k] = i * 10_000 + j * 100 + k;
                }
            }
        }
        return cube;
    }

    @Test
    void openingTenThousandTimesHoldsNothing() throws IOException {
        openAndRead(3000);
        long descriptors = descriptors();
        long memory = residentKilobytes();
        openAndRead(10_000);
        assertEquals(descriptors, descriptors());
        long grown = residentKilobytes() - memory;
        assertTrue(grown < 64_000, grown + " kB more than before");
    }

    private void openAndRead(int times) {
        for (int i = 0; i < times; i++) {
            try (HdfFile open = new HdfFile(file)) {
                Dataset dataset = open.getDatasetByPath("cube");
                float[][][] row =
                        (float[][][])
                                dataset.getData(new long[] {i % 40, 0, 0}, new int[] {1, 1, 20});
                assertEquals((i % 40) * 10_000 + 19, row[0][0][19]);
                assertEquals("m/s", dataset.getAttribute("unit").getData());
                assertEquals(2, open.getChildren().size());
            }
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    /**
     * The anonymous memory of the process, in kB. The tests run with a heap of a fixed size that is
     * touched in advance, so only native memory makes it grow.
     */
    private static long residentKilobytes() throws IOException {
        System.gc();
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("RssAnon:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException("/proc/self/status has no RssAnon");
    }

    @Test
    void aMappedFileHasTheSameElements() {
        try (HdfFile open = HdfFile.mapped(file)) {
            assertArrayEquals(cube(), (float[][][]) open.getDatasetByPath("cube").getData());
        }
        assertThrows(HdfException.class, () -> HdfFile.mapped(folder.resolve("missing.h5")));
    }

    @Test
    void externalLinksOpenNoFileAfterClose() {
        Path other = folder.resolve("other.h5");
        try (WritableHdfFile out = HdfFile.write(other)) {
            Objects.createLink(out.getHdfFile().nativeFile(), "/names", "/names", "cube.h5");
        }
        HdfFile open = new HdfFile(other);
        Link followed = (Link) open.getChild("names");
        Link notFollowed = (Link) open.getChild("names");
        Dataset names = (Dataset) followed.getTarget();
        assertArrayEquals(new String[] {"a", "bc"}, (String[]) names.getData());
        open.close();
        assertThrows(HdfException.class, names::getData);
        assertThrows(HdfException.class, notFollowed::getTarget);
    }

    @Test
    void everyUseAfterCloseIsAnException() {
        HdfFile open = new HdfFile(file);
        Dataset dataset = open.getDatasetByPath("cube");
        Attribute attribute = dataset.getAttribute("unit");
        dataset.getData();
        open.getChildren();
        open.close();
        open.close();
        List<Callable<?>> uses =
                List.of(
                        open::getChildren,
                        () -> open.getByPath("cube"),
                        open::getAttributes,
                        () -> open.getChild("cube"),
                        dataset::getData,
                        dataset::getDataFlat,
                        () -> dataset.getData(new long[3], new int[] {1, 1, 1}),
                        dataset::getAttributes,
                        dataset::getFilters,
                        dataset::getStorageInBytes,
                        attribute::getData,
                        () -> open.getNodeByAddress(dataset.getAddress()));
        for (Callable<?> use : uses) {
            HdfException error = assertThrows(HdfException.class, use::call);
            assertTrue(error.getMessage().contains("closed"), error.getMessage());
        }
        ByteBuffer room = ByteBuffer.allocateDirect(4 * 40 * 30 * 20);
        assertThrows(HdfException.class, () -> dataset.read(Selection.all(), room));
    }

    @Test
    void threadsReadOneDataset() throws Exception {
        float[][][] expected = cube();
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try (HdfFile open = new HdfFile(file)) {
            Dataset dataset = open.getDatasetByPath("cube");
            List<Future<?>> readers = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                int thread = t;
                readers.add(
                        pool.submit(
                                () -> {
                                    for (int i = 0; i < 200; i++) {
                                        int row = (thread * 7 + i) % SHAPE[0];
                                        Object plane =
                                                dataset.getData(
                                                        new long[] {row, 0, 0},
                                                        new int[] {1, SHAPE[1], SHAPE[2]});
                                        assertArrayEquals(
                                                new float[][][] {expected[row]},
                                                (float[][][]) plane);
                                    }
                                }));
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void closingWaitsForReadsOfOtherThreads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 50; round++) {
                HdfFile open = new HdfFile(file);
                Dataset dataset = open.getDatasetByPath("cube");
                CountDownLatch allRead = new CountDownLatch(4);
                AtomicBoolean isClosing = new AtomicBoolean();
                AtomicBoolean isClosed = new AtomicBoolean();
                List<Future<HdfException>> readers = new ArrayList<>();
                for (int t = 0; t < 4; t++) {
                    readers.add(
                            pool.submit(
                                    () -> {
                                        while (true) {
                                            boolean wasClosed = isClosed.get();
                                            float[][][] data;
                                            try {
                                                data = (float[][][]) dataset.getData();
                                            } catch (HdfException error) {
                                                assertTrue(isClosing.get(), error.getMessage());
                                                return error;
                                            }
                                            assertEquals(390_000f, data[39][0][0]);
                                            assertFalse(wasClosed, "read after close");
                                            allRead.countDown();
                                        }
                                    }));
                }
                assertTrue(allRead.await(60, TimeUnit.SECONDS));
                isClosing.set(true);
                open.close();
                isClosed.set(true);
                for (Future<HdfException> reader : readers) {
                    // Not an error within a read that had begun.
                    assertEquals("'" + file + "' is closed", reader.get().getMessage());
                }
            }
        } finally {
            pool.shutdown();
        }
    }

    /** Runs something again and again while another thread changes what it uses. */
    private static void readWhile(IntConsumer change, Runnable read) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            AtomicBoolean isRead = new AtomicBoolean();
            Future<?> changes =
                    pool.submit(
                            () -> {
                                for (int i = 0; !isRead.get(); i++) {
                                    change.accept(i);
                                }
                            });
            try {
                for (int i = 0; i < TURNS; i++) {
                    read.run();
                }
            } finally {
                isRead.set(true);
            }
            changes.get();
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void anAttributeThatIsReplacedHasOneOfItsValues() throws Exception {
        int[] few = {7, 7, 7};
        double[] many = new double[200];
        Arrays.fill(many, 1.5);
        try (WritableHdfFile out = HdfFile.write(folder.resolve("replaced.h5"))) {
            Attribute attribute = out.putAttribute("a", few);
            readWhile(
                    turn -> out.putAttribute("a", turn % 2 == 0 ? many : few),
                    () -> {
                        Object data = attribute.getData();
                        if (data instanceof int[] ints) {
                            assertArrayEquals(few, ints);
                        } else {
                            assertArrayEquals(many, (double[]) data);
                        }
                        ByteBuffer bytes = attribute.getBuffer();
                        boolean isFew = bytes.capacity() == 12;
                        assertTrue(isFew || bytes.capacity() == 1600, bytes.toString());
                        assertTrue(isFew ? bytes.getInt(8) == 7 : bytes.getDouble(1592) == 1.5);
                        long size = attribute.getSizeInBytes();
                        assertTrue(size == 12 || size == 1600, size + " bytes");
                    });
        }
    }

    @Test
    void anAttributeIsRemovedOnce() throws Exception {
        try (WritableHdfFile out = HdfFile.write(folder.resolve("taken.h5"))) {
            AtomicInteger put = new AtomicInteger();
            Set<Object> removed = ConcurrentHashMap.newKeySet();
            Runnable remove =
                    () -> {
                        Attribute taken = out.removeAttribute("a");
                        assertTrue(taken == null || removed.add(taken.getData()), "removed twice");
                    };
            readWhile(
                    turn -> remove.run(),
                    () -> {
                        assertNotNull(out.putAttribute("a", put.getAndIncrement()));
                        remove.run();
                    });
            assertEquals(TURNS, removed.size());
        }
    }

    @Test
    void aDatasetThatIsResizedIsReadWhole() throws Exception {
        int few = 100;
        int many = 20_000;
        var options =
                DatasetCreationOptions.builder()
                        .chunkDimensions(1000)
                        .maxDimensions(-1)
                        .deflate(1)
                        .build();
        int[] numbers = new int[many];
        Arrays.setAll(numbers, i -> i < few ? i : 0);
        try (WritableHdfFile out = HdfFile.write(folder.resolve("resized.h5"))) {
            ChunkedDataset dataset = (ChunkedDataset) out.putDataset("d", numbers, options);
            byte[] room = new byte[4 * many];
            Arrays.fill(room, (byte) -1);
            ByteBuffer memory = ByteBuffer.allocateDirect(4 * many).order(ByteOrder.nativeOrder());
            readWhile(
                    turn -> ((WritableDataset) dataset).resize(turn % 2 == 0 ? few : many),
                    () -> {
                        int[] data = (int[]) dataset.getData();
                        assertArrayEquals(Arrays.copyOf(numbers, data.length), data);
                        assertTrue(data.length == few || data.length == many);
                        memory.clear().put(0, room);
                        dataset.read(Selection.all(), memory);
                        int count = memory.flip().remaining() / 4;
                        int[] found = new int[count];
                        memory.asIntBuffer().get(found);
                        assertArrayEquals(Arrays.copyOf(numbers, count), found);
                        assertEquals(4000, dataset.getDecompressedChunk(new int[1]).length);
                    });
        }
    }

    @Test
    void threadsThatReadAndChangeDoNotBlockEachOther() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(6);
        try {
            for (int round = 0; round < 20; round++) {
                WritableHdfFile out = HdfFile.write(folder.resolve("all" + round + ".h5"));
                out.putAttribute("a", 1);
                var options = DatasetCreationOptions.builder().maxDimensions(-1).build();
                WritableDataset dataset = out.putDataset("d", new int[10], options);
                Attribute attribute = out.getAttribute("a");
                List<Runnable> uses =
                        List.of(
                                dataset::getData,
                                dataset::getDimensions,
                                attribute::getData,
                                attribute::getDataType,
                                () -> dataset.resize(10),
                                () -> out.putAttribute("a", 2));
                List<Future<?>> running = new ArrayList<>();
                for (Runnable use : uses) {
                    running.add(
                            pool.submit(
                                    () -> {
                                        for (int i = 0; i < 200; i++) {
                                            use.run();
                                        }
                                    }));
                }
                for (Future<?> each : running) {
                    each.get(60, TimeUnit.SECONDS);
                }
                out.close();
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void aFileThatIsNotClosedIsClosedByTheCollector() throws Exception {
        Path target = folder.resolve("forgotten.h5");
        Files.copy(file, target);
        forget(target);
        for (int i = 0; i < 200 && isOpen(target); i++) {
            System.gc();
            Thread.sleep(20);
        }
        assertTrue(!isOpen(target), "the file is still open");
    }

    private static void forget(Path path) {
        Group open = new HdfFile(path);
        assertEquals(2, open.getChildren().size());
    }

    private static boolean isOpen(Path path) throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.anyMatch(
                    each -> {
                        try {
                            return Files.readSymbolicLink(each).equals(path.toRealPath());
                        } catch (IOException error) {
                            return false;
                        }
                    });
        }
    }

    @Test
    void theNumberOfThreadsIsKept() {
        int before = Hyperslab.getThreads();
        Hyperslab.setThreads(3);
        assertEquals(3, Hyperslab.getThreads());
        Hyperslab.setThreads(before);
        assertThrows(IllegalArgumentException.class, () -> Hyperslab.setThreads(0));
    }
}
