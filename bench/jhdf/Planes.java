import io.jhdf.HdfFile;
import io.jhdf.api.Dataset;
import io.jhdf.api.dataset.ChunkedDataset;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reads planes of the float dataset "d" with jHDF. 16 threads take chunks, and each copies the elements of the plane from
 * the mapped bytes of its chunk, or from the decoded chunk if the dataset has filters.
 *
 * <p>Requests are lines. "plane AXIS INDEX PATH" is answered by a line with two numbers: the nanoseconds from before the
 * file is opened until it is closed, and the number of floats, which follow in native byte order. "kept AXIS INDEX PATH"
 * does the same with a file that stays open; only the plane is timed. "slice" and "kept-slice" do the same by
 * {@code getData} on one thread, as most programs read. "release" unmaps the files read before and is answered by an empty
 * line. (Garbage collection removes a mapping, which keeps its pages in the page cache until then.)
 */
public final class Planes {
    private static final int THREADS = 16;
    private static final ExecutorService POOL = Executors.newFixedThreadPool(THREADS, Planes::daemon);

    private static final Map<Path, HdfFile> KEPT = new HashMap<>();

    private Planes() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OutputStream answers = new BufferedOutputStream(System.out, 1 << 20);
        for (String request = requests.readLine(); request != null; request = requests.readLine()) {
            if (request.equals("release")) {
                System.gc();
                answers.write('\n');
            } else {
                String[] words = request.split(" ", 4);
                answer(words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]), Path.of(words[3]), answers);
            }
            answers.flush();
        }
    }

    private static void answer(String request, int axis, int index, Path path, OutputStream answers) throws Exception {
        boolean isSlice = request.endsWith("slice");
        HdfFile kept = request.startsWith("kept") ? KEPT.computeIfAbsent(path, HdfFile::new) : null;
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
        float[] plane = read instanceof float[] ? (float[]) read : flat((float[][][]) read);
        ByteBuffer bytes = ByteBuffer.allocate(plane.length * Float.BYTES).order(ByteOrder.nativeOrder());
        bytes.asFloatBuffer().put(plane);
        answers.write((nanoseconds + " " + plane.length + "\n").getBytes(StandardCharsets.UTF_8));
        answers.write(bytes.array());
    }

    private static float[] plane(HdfFile file, int axis, int index) throws Exception {
        return new Reading((ChunkedDataset) file.getDatasetByPath("d"), axis, index).plane();
    }

    private static float[][][] slice(HdfFile file, int axis, int index) {
        Dataset dataset = file.getDatasetByPath("d");
        long[] offset = new long[3];
        offset[axis] = index;
        int[] dimensions = dataset.getDimensions();
        dimensions[axis] = 1;
        return (float[][][]) dataset.getData(offset, dimensions);
    }

    private static float[] flat(float[][][] values) {
        float[] flat = new float[values.length * values[0].length * values[0][0].length];
        int at = 0;
        for (float[][] rows : values) {
            for (float[] row : rows) {
                System.arraycopy(row, 0, flat, at, row.length);
                at += row.length;
            }
        }
        return flat;
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    /** One plane of a dataset of three dimensions. */
    private static final class Reading {
        private final ChunkedDataset dataset;
        private final int[] shape;
        private final int[] chunk;
        private final int axis;
        private final int index;
        /** The dimensions of the plane. */
        private final int rows;
        private final int columns;
        private final int chunksAcross;
        private final int chunks;
        private final float[] plane;

        Reading(ChunkedDataset dataset, int axis, int index) {
            this.dataset = dataset;
            this.shape = dataset.getDimensions();
            this.chunk = dataset.getChunkDimensions();
            this.axis = axis;
            this.index = index;
            this.rows = axis == 0 ? 1 : 0;
            this.columns = axis == 2 ? 1 : 2;
            this.chunksAcross = (shape[columns] + chunk[columns] - 1) / chunk[columns];
            this.chunks = (shape[rows] + chunk[rows] - 1) / chunk[rows] * chunksAcross;
            this.plane = new float[shape[rows] * shape[columns]];
        }

        float[] plane() throws InterruptedException, ExecutionException {
            AtomicInteger next = new AtomicInteger();
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                workers.add(POOL.submit(() -> {
                    for (int j = next.getAndIncrement(); j < chunks; j = next.getAndIncrement()) {
                        copy(j / chunksAcross * chunk[rows], j % chunksAcross * chunk[columns]);
                    }
                }));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
            return plane;
        }

        /** Copies the part of the plane that starts at a row and column and is in one chunk. */
        private void copy(int row, int column) {
            int[] first = new int[3];
            first[axis] = index / chunk[axis] * chunk[axis];
            first[rows] = row;
            first[columns] = column;
            int[] pitch = {chunk[1] * chunk[2], chunk[2], 1};
            ByteBuffer bytes = dataset.getFilters().isEmpty()
                    ? dataset.getRawChunkBuffer(first)
                    : ByteBuffer.wrap(dataset.getDecompressedChunk(first));
            FloatBuffer values = bytes.order(ByteOrder.nativeOrder()).asFloatBuffer();
            int height = Math.min(chunk[rows], shape[rows] - row);
            int width = Math.min(chunk[columns], shape[columns] - column);
            for (int i = 0; i < height; i++) {
                int from = (index - first[axis]) * pitch[axis] + i * pitch[rows];
                int to = (row + i) * shape[columns] + column;
                if (pitch[columns] == 1) {
                    values.position(from);
                    values.get(plane, to, width);
                } else {
                    for (int j = 0; j < width; j++) {
                        plane[to + j] = values.get(from + j * pitch[columns]);
                    }
                }
            }
        }
    }
}
