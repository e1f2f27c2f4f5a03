import io.github.hyperslab.HdfFile;
import io.github.hyperslab.Hyperslab;
import io.github.hyperslab.Selection;
import io.github.hyperslab.api.Dataset;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads planes of the float dataset "d" with hyperslab for Java, as many threads as the first
 * argument says.
 *
 * <p>Requests and answers are those of the program of jHDF: "slice" and "kept-slice" read by {@code
 * getData}, "plane" and "kept" into memory of the caller, which is allocated once; "mapped" and
 * "mapped-slice" do the same with a mapped file that stays open.
 */
public final class Planes {
    private static final Map<Path, HdfFile> KEPT = new HashMap<>();
    private static final Map<Path, HdfFile> MAPPED = new HashMap<>();
    private static ByteBuffer memory = ByteBuffer.allocateDirect(0);

    private Planes() {}

    public static void main(String[] arguments) throws Exception {
        Hyperslab.setThreads(Integer.parseInt(arguments[0]));
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OutputStream answers = new BufferedOutputStream(System.out, 1 << 20);
        for (String request = requests.readLine(); request != null; request = requests.readLine()) {
            String[] words = request.split(" ", 4);
            answer(
                    words[0],
                    Integer.parseInt(words[1]),
                    Integer.parseInt(words[2]),
                    Path.of(words[3]),
                    answers);
            answers.flush();
        }
    }

    private static void answer(String request, int axis, int index, Path path, OutputStream answers)
            throws Exception {
        boolean isSlice = request.endsWith("slice");
        HdfFile kept = kept(request, path);
        long begin = System.nanoTime();
        Object read;
        if (kept != null) {
            read = isSlice ? slice(kept, axis, index) : plane(kept, axis, index);
        } else {
            try (HdfFile file = new HdfFile(path)) {
                read = isSlice ? slice(file, axis, index) : plane(file, axis, index);
            }
        }
        long nanoseconds = System.nanoTime() - begin;
        ByteBuffer bytes = read instanceof ByteBuffer buffer ? buffer : bytes((float[][][]) read);
        answers.write(
                (nanoseconds + " " + bytes.remaining() / Float.BYTES + "\n")
                        .getBytes(StandardCharsets.UTF_8));
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        answers.write(copy);
    }

    /** Returns a file that stays open, if the request is for one. */
    private static HdfFile kept(String request, Path path) {
        if (request.startsWith("mapped")) {
            return MAPPED.computeIfAbsent(path, HdfFile::mapped);
        }
        return request.startsWith("kept") ? KEPT.computeIfAbsent(path, HdfFile::new) : null;
    }

    private static float[][][] slice(HdfFile file, int axis, int index) {
        Dataset dataset = file.getDatasetByPath("d");
        long[] offset = new long[3];
        offset[axis] = index;
        int[] dimensions = dataset.getDimensions();
        dimensions[axis] = 1;
        return (float[][][]) dataset.getData(offset, dimensions);
    }

    private static ByteBuffer plane(HdfFile file, int axis, int index) {
        Dataset dataset = file.getDatasetByPath("d");
        long[] start = new long[3];
        start[axis] = index;
        long[] count = dataset.getDimensionsAsLong();
        count[axis] = 1;
        int size = (int) (count[0] * count[1] * count[2] * Float.BYTES);
        if (memory.capacity() < size) {
            memory = ByteBuffer.allocateDirect(size);
        }
        ByteBuffer into = memory.duplicate().clear().limit(size);
        dataset.read(Selection.box(start, count), into);
        return into.flip();
    }

    private static ByteBuffer bytes(float[][][] values) {
        int size = values.length * values[0].length * values[0][0].length * Float.BYTES;
        ByteBuffer bytes = ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
        for (float[][] rows : values) {
            for (float[] row : rows) {
                bytes.asFloatBuffer().put(row);
                bytes.position(bytes.position() + row.length * Float.BYTES);
            }
        }
        return bytes.flip();
    }
}
