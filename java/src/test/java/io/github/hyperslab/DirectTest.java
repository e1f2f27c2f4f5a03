package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.DatasetCreationOptions;
import io.github.hyperslab.api.DirectAccess;
import io.github.hyperslab.exceptions.HdfException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads into memory of the caller. */
class DirectTest {
    @TempDir private Path folder;

    private HdfFile file;
    private Dataset numbers;

    @BeforeEach
    void makeFile() {
        Path path = folder.resolve("numbers.h5");
        int[][] values = new int[6][5];
        for (int i = 0; i < 30; i++) {
            values[i / 5][i % 5] = i;
        }
        try (WritableHdfFile out = HdfFile.write(path)) {
            out.putDataset("numbers", values);
        }
        file = new HdfFile(path);
        numbers = file.getDatasetByPath("numbers");
    }

    @AfterEach
    void closeFile() {
        file.close();
    }

    @Test
    void buffersAreFilledFromTheirPosition() {
        Selection rows = Selection.box(new long[] {0, 1}, new long[] {3, 2}).stride(2, 3);
        for (ByteBuffer buffer :
                new ByteBuffer[] {ByteBuffer.allocateDirect(40), ByteBuffer.allocate(40)}) {
            buffer.order(ByteOrder.nativeOrder()).putInt(-1);
            numbers.read(rows, buffer);
            assertEquals(28, buffer.position());
            int[] expected = {-1, 1, 4, 11, 14, 21, 24, 0};
            for (int i = 0; i < expected.length; i++) {
                assertEquals(expected[i], buffer.getInt(4 * i));
            }
        }
    }

    @Test
    void numbersAreConverted() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(30 * 8).order(ByteOrder.nativeOrder());
        numbers.read(Selection.all(), double.class, buffer);
        assertEquals(29.0, buffer.getDouble(29 * 8));
    }

    @Test
    void memoryThatIsTooSmallIsAnException() {
        ByteBuffer small = ByteBuffer.allocateDirect(119);
        assertThrows(HdfException.class, () -> numbers.read(Selection.all(), small));
        assertThrows(
                HdfException.class, () -> numbers.read(Selection.all(), ByteBuffer.allocate(119)));
        assertEquals(0, small.position());
        assertThrows(
                HdfException.class,
                () -> numbers.read(Selection.all(), ByteBuffer.allocate(120).asReadOnlyBuffer()));
        Selection outside = Selection.box(new long[] {5, 0}, new long[] {2, 5});
        assertThrows(
                HdfException.class, () -> numbers.read(outside, ByteBuffer.allocateDirect(400)));
        assertThrows(HdfException.class, () -> Selection.box(new long[] {-1}, new long[] {1}));
        assertThrows(HdfException.class, () -> Selection.box(new long[] {0}, new long[] {-1}));
        Selection nothing = Selection.box(new long[] {0, 0}, new long[] {0, 5});
        numbers.read(nothing, ByteBuffer.allocateDirect(0));
        numbers.read(nothing, ByteBuffer.allocate(0));
        Selection line = Selection.box(new long[] {0}, new long[] {0});
        assertThrows(HdfException.class, () -> numbers.read(line, ByteBuffer.allocateDirect(0)));
        assertThrows(
                HdfException.class,
                () -> numbers.read(Selection.all(), String.class, ByteBuffer.allocate(400)));
    }

    /**
     * The interface has this method from Java 22 on, so that the tests, which Java 17 compiles,
     * cannot name it.
     */
    @Test
    void segmentsAreFilled() throws Throwable {
        if (Runtime.version().feature() < 22) {
            assertEquals(2, DirectAccess.class.getDeclaredMethods().length);
            return;
        }
        Class<?> arenas = Class.forName("java.lang.foreign.Arena");
        Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
        Object arena = arenas.getMethod("ofShared").invoke(null);
        Object segment = arenas.getMethod("allocate", long.class).invoke(arena, 120L);
        Method read = Dataset.class.getMethod("read", Selection.class, segments);
        if (Hyperslab.binding().equals("JNI")) {
            assertEquals(HdfException.class, thrown(read, segment));
            return;
        }
        read.invoke(numbers, Selection.all(), segment);
        ByteBuffer seen = (ByteBuffer) segments.getMethod("asByteBuffer").invoke(segment);
        assertEquals(29, seen.order(ByteOrder.nativeOrder()).getInt(29 * 4));
        Object small = segments.getMethod("asSlice", long.class).invoke(segment, 1L);
        assertEquals(HdfException.class, thrown(read, small));
        Object heap = segments.getMethod("ofArray", byte[].class).invoke(null, new byte[120]);
        assertEquals(HdfException.class, thrown(read, heap));
        arenas.getMethod("close").invoke(arena);
        assertEquals(IllegalStateException.class, thrown(read, segment));
    }

    /** Memory of an arena. */
    private static ByteBuffer view(Object arena, long size) throws ReflectiveOperationException {
        Object segment =
                Class.forName("java.lang.foreign.Arena")
                        .getMethod("allocate", long.class)
                        .invoke(arena, size);
        return (ByteBuffer)
                Class.forName("java.lang.foreign.MemorySegment")
                        .getMethod("asByteBuffer")
                        .invoke(segment);
    }

    @Test
    void buffersOfAClosedArenaAreAnException() throws Exception {
        if (Runtime.version().feature() < 22) {
            return;
        }
        Class<?> arenas = Class.forName("java.lang.foreign.Arena");
        Object arena = arenas.getMethod("ofShared").invoke(null);
        ByteBuffer room = view(arena, 120);
        byte[] bytes = Files.readAllBytes(file.getFileAsPath());
        ByteBuffer copy = view(arena, bytes.length).put(bytes).flip();
        numbers.read(Selection.all(), room);
        try (HdfFile same = HdfFile.fromByteBuffer(copy)) {
            assertEquals(numbers.getSize(), same.getDatasetByPath("numbers").getSize());
        }
        room.clear();
        arenas.getMethod("close").invoke(arena);
        assertThrows(IllegalStateException.class, () -> numbers.read(Selection.all(), room));
        assertThrows(IllegalStateException.class, () -> HdfFile.fromByteBuffer(copy));
    }

    @Test
    void filesAreReadFromBuffersOfAnyKind() throws IOException {
        byte[] bytes = Files.readAllBytes(file.getFileAsPath());
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length + 20);
        ByteBuffer part = direct.position(13).slice().put(bytes).flip();
        ByteBuffer heap = ByteBuffer.wrap(bytes);
        List<ByteBuffer> kinds =
                List.of(
                        part,
                        part.asReadOnlyBuffer(),
                        part.duplicate().order(ByteOrder.LITTLE_ENDIAN),
                        direct.duplicate().limit(13 + bytes.length),
                        heap,
                        heap.asReadOnlyBuffer());
        for (ByteBuffer kind : kinds) {
            int position = kind.position();
            try (HdfFile same = HdfFile.fromByteBuffer(kind)) {
                int[][] found = (int[][]) same.getDatasetByPath("numbers").getData();
                assertEquals(29, found[5][4]);
            }
            assertEquals(position, kind.position());
        }
        assertThrows(
                HdfException.class, () -> HdfFile.fromByteBuffer(ByteBuffer.allocateDirect(0)));
    }

    /**
     * A segment of a size that no buffer of a segment has. The memory is not there: that the file
     * is closed is found before any is needed, but not before a buffer would be made.
     */
    @Test
    void segmentsMayHaveTheLargestSizesOfAnInt() throws Exception {
        if (!Hyperslab.binding().equals("FFM")) {
            return;
        }
        long size = Integer.MAX_VALUE - 3L;
        Path path = folder.resolve("large.h5");
        var options = DatasetCreationOptions.builder().chunkDimensions(1 << 20).build();
        try (WritableHdfFile out = HdfFile.write(path)) {
            out.putDataset("bytes", byte.class, new long[] {size}, options);
        }
        Dataset bytes;
        try (HdfFile open = new HdfFile(path)) {
            bytes = open.getDatasetByPath("bytes");
            assertEquals(size, bytes.getSizeInBytes());
        }
        Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
        Object memory = segments.getMethod("ofAddress", long.class).invoke(null, 1L << 20);
        Object large = segments.getMethod("reinterpret", long.class).invoke(memory, size);
        Method read = Dataset.class.getMethod("read", Selection.class, segments);
        InvocationTargetException error =
                assertThrows(
                        InvocationTargetException.class,
                        () -> read.invoke(bytes, Selection.all(), large));
        assertEquals(HdfException.class, error.getCause().getClass(), error.getCause().toString());
    }

    private Class<?> thrown(Method read, Object segment) throws IllegalAccessException {
        try {
            read.invoke(numbers, Selection.all(), segment);
            return null;
        } catch (InvocationTargetException error) {
            return error.getCause().getClass();
        }
    }
}
