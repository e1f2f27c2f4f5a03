package io.github.hyperslab.internal;

import io.github.hyperslab.Selection;
import io.github.hyperslab.filter.PipelineFilterWithData;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A dataset of an open file, and the calls about it. The native dataset is opened at the first
 * call.
 */
public final class Datasets {
    private static final int IO_OPTIONS = 48;

    /** Where {@code checked} of {@code hs_io_options} is. */
    private static final int CHECKED = 44;

    private static final int SELECTION = 48;
    private static final int CHUNK_INFO = 32;
    private static final int FILTER = 16;
    private static final int DATASET_OPTIONS = 88;

    private final NativeFile file;
    private final String path;
    private long handle;

    /** Closes the native dataset when this becomes unreachable, or before. */
    private Cleaner.Cleanable cleanable;

    /**
     * Names a dataset.
     *
     * @param file the file
     * @param path its path
     */
    public Datasets(NativeFile file, String path) {
        this.file = file;
        this.path = path;
    }

    /** Closes the native dataset. The next call opens it again. */
    public synchronized void release() {
        if (handle != 0) {
            cleanable.clean();
            handle = 0;
        }
    }

    private synchronized long handle() {
        if (handle == 0) {
            own(file.openDataset(path));
        }
        return handle;
    }

    private synchronized void own(long dataset) {
        cleanable = file.closeWith(this, dataset);
        handle = dataset;
    }

    /**
     * Runs a call with the native dataset while it cannot be closed. The file's lock comes before
     * the monitor of {@link #handle()}.
     */
    private <T> T call(NativeFile.Call<T> call) {
        try {
            return file.call((open, frame) -> call.with(handle(), frame));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Runs calls that belong together while the dataset is neither resized nor removed.
     *
     * @param <T> the class of the result
     * @param calls the calls
     * @return their result
     */
    public <T> T reading(Supplier<T> calls) {
        return file.reading(calls);
    }

    /**
     * Returns the properties of the dataset.
     *
     * @param wantsStorage whether stored bytes are counted, which looks at every chunk
     * @return the properties
     */
    public ArrayInfo info(boolean wantsStorage) {
        return call(
                (dataset, frame) -> {
                    Frame.Struct info = ArrayInfo.request(frame, wantsStorage);
                    check(Library.call(Function.DATASET_INFO, dataset, info.address()), "look up");
                    return ArrayInfo.of(info);
                });
    }

    /**
     * Returns the datatype message.
     *
     * @return the message
     */
    public byte[] type() {
        return call(
                (dataset, frame) -> {
                    try (Items items =
                            Objects.items(
                                    frame,
                                    doing("read the datatype of"),
                                    out -> Library.call(Function.TYPE, dataset, out))) {
                        return items.copy(0);
                    }
                });
    }

    /**
     * Returns the filters.
     *
     * @return the filters in the order of writing
     */
    public List<PipelineFilterWithData> filters() {
        return call(
                (dataset, frame) -> {
                    try (Items items =
                            Objects.items(
                                    frame,
                                    doing("read the filters of"),
                                    out -> Library.call(Function.FILTERS, dataset, out))) {
                        List<PipelineFilterWithData> filters = new ArrayList<>();
                        for (int i = 0; i < items.count(); i++) {
                            int position = items.position(i);
                            int[] values = new int[items.length(i) / Integer.BYTES - 2];
                            for (int j = 0; j < values.length; j++) {
                                values[j] =
                                        items.bytes().getInt(position + (j + 2) * Integer.BYTES);
                            }
                            int id = items.bytes().getInt(position);
                            filters.add(new PipelineFilterWithData(id, FilterNames.of(id), values));
                        }
                        return filters;
                    }
                });
    }

    /**
     * Reads the fill value.
     *
     * @param type the type of the element in memory
     * @param out direct memory for one element
     * @param size the bytes of the element
     */
    public void fillValue(MemoryType type, ByteBuffer out, int size) {
        call(
                (dataset, frame) -> {
                    long options = options(frame, size, null);
                    check(
                            Library.call(
                                    Function.FILL_VALUE,
                                    dataset,
                                    type.code(),
                                    Library.NATIVE.address(out),
                                    options),
                            "read the fill value of");
                    return null;
                });
        Reference.reachabilityFence(out);
    }

    /**
     * Reads elements.
     *
     * @param selection the elements, or {@code null} for all
     * @param type the type of the elements in memory
     * @param out a direct buffer or a memory segment, filled from its beginning
     * @param size the number of bytes that may be filled
     */
    public void read(Selection selection, MemoryType type, Object out, long size) {
        read(selection, type, out, size, null);
    }

    /**
     * Reads elements to places with gaps between them.
     *
     * @param selection the elements, or {@code null} for all
     * @param type the type of the elements in memory
     * @param out a direct buffer or a memory segment, filled from its beginning
     * @param size the number of bytes that may be filled
     * @param strides the bytes from one element to the next along each dimension, or {@code null}
     *     for no gaps
     */
    public void read(Selection selection, MemoryType type, Object out, long size, long[] strides) {
        call(
                (dataset, frame) -> {
                    long options = options(frame, size, null, strides);
                    check(
                            Library.NATIVE.callWith(
                                    Function.READ,
                                    dataset,
                                    selection(frame, selection),
                                    type.code(),
                                    out,
                                    options),
                            "read");
                    return null;
                });
    }

    /**
     * Writes elements.
     *
     * @param selection the elements, or {@code null} for all
     * @param type the type of the elements in memory
     * @param data direct memory, used from its beginning
     * @param size the number of bytes that are there
     * @param message the datatype for {@link MemoryType#MESSAGE}, or {@code null}
     */
    public void write(
            Selection selection, MemoryType type, ByteBuffer data, long size, byte[] message) {
        call(
                (dataset, frame) -> {
                    long options = options(frame, size, message);
                    check(
                            Library.NATIVE.callWith(
                                    Function.WRITE,
                                    dataset,
                                    selection(frame, selection),
                                    type.code(),
                                    data,
                                    options),
                            "write");
                    return null;
                });
    }

    /**
     * Changes the dimensions.
     *
     * @param shape the new dimensions
     */
    public void resize(long[] shape) {
        file.change(
                (open, frame) -> {
                    check(
                            Library.call(
                                    Function.RESIZE, handle(), shape.length, frame.longs(shape)),
                            "resize");
                    return null;
                });
        Reference.reachabilityFence(this);
    }

    /**
     * Reads a chunk as it is stored.
     *
     * @param first the first element of the chunk
     * @return the stored bytes, or {@code null} if the chunk was never written
     */
    public byte[] chunk(long[] first) {
        return call(
                (dataset, frame) -> {
                    Frame.Struct info = frame.struct(CHUNK_INFO);
                    info.putLong(0, CHUNK_INFO);
                    try (Items items =
                            Objects.items(
                                    frame,
                                    doing("read a chunk of"),
                                    out ->
                                            Library.call(
                                                    Function.CHUNK_READ,
                                                    dataset,
                                                    first.length,
                                                    frame.longs(first),
                                                    info.address(),
                                                    out))) {
                        return info.getInt(8) == 0 ? null : items.copy(0);
                    }
                });
    }

    /**
     * What a new dataset is like.
     *
     * @param message the datatype
     * @param shape the dimensions, none for a scalar
     * @param maxShape the largest dimensions, or {@code null} if they are fixed
     * @param chunk the shape of a chunk, or {@code null}
     * @param filters the filters in the order of writing
     */
    public record Creation(
            byte[] message,
            long[] shape,
            long[] maxShape,
            long[] chunk,
            List<PipelineFilterWithData> filters) {}

    /**
     * Creates a dataset.
     *
     * @param file the file
     * @param path its path; parents that are missing are made
     * @param creation what it is like
     * @return the dataset
     */
    public static Datasets create(NativeFile file, String path, Creation creation) {
        Datasets dataset = new Datasets(file, path);
        dataset.own(
                file.call(
                        (open, frame) -> {
                            Frame.Struct options = frame.struct(DATASET_OPTIONS);
                            options.putLong(0, DATASET_OPTIONS);
                            options.putInt(8, MemoryType.MESSAGE.code());
                            options.putInt(12, creation.shape.length);
                            options.putLong(16, frame.bytes(creation.message));
                            options.putLong(24, creation.message.length);
                            options.putLong(32, frame.longs(creation.shape));
                            options.putLong(40, frame.longs(creation.maxShape));
                            options.putLong(48, frame.longs(creation.chunk));
                            options.putLong(56, filters(frame, creation.filters));
                            options.putLong(64, creation.filters.size());
                            Frame.Struct created = frame.struct(Long.BYTES);
                            Library.check(
                                    Library.call(
                                            Function.DATASET_CREATE,
                                            open,
                                            frame.text(path),
                                            options.address(),
                                            created.address()),
                                    "create the dataset '" + path + "'");
                            file.opened(created.getLong(0));
                            return created.getLong(0);
                        }));
        return dataset;
    }

    private static long filters(Frame frame, List<PipelineFilterWithData> filters) {
        if (filters.isEmpty()) {
            return 0;
        }
        Frame.Struct structs = frame.struct(filters.size() * FILTER);
        for (int i = 0; i < filters.size(); i++) {
            int[] data = filters.get(i).getFilterData();
            Frame.Struct values = frame.struct(data.length * Integer.BYTES);
            for (int j = 0; j < data.length; j++) {
                values.putInt(j * Integer.BYTES, data[j]);
            }
            structs.putShort(i * FILTER, filters.get(i).getId());
            structs.putInt(i * FILTER + 4, data.length);
            structs.putLong(i * FILTER + 8, values.address());
        }
        return structs.address();
    }

    static long options(Frame frame, long size, byte[] message) {
        return options(frame, size, message, null);
    }

    private static long options(Frame frame, long size, byte[] message, long[] strides) {
        Frame.Struct options = frame.struct(IO_OPTIONS);
        options.putLong(0, IO_OPTIONS);
        options.putLong(8, size);
        if (message != null) {
            options.putLong(16, frame.bytes(message));
            options.putLong(24, message.length);
        }
        options.putLong(32, frame.longs(strides));
        options.putInt(CHECKED, 1); // A size of 0 means no memory, not memory of any size.
        return options.address();
    }

    static long selection(Frame frame, Selection selection) {
        if (selection == null || selection.isAll()) {
            return 0;
        }
        Frame.Struct struct = frame.struct(SELECTION);
        struct.putLong(0, SELECTION);
        struct.putInt(8, selection.rank());
        struct.putLong(16, frame.longs(selection.start()));
        struct.putLong(24, frame.longs(selection.stride()));
        struct.putLong(32, frame.longs(selection.count()));
        struct.putLong(40, frame.longs(selection.block()));
        return struct.address();
    }

    private void check(long code, String doing) {
        if (code != Library.OK) {
            throw Library.exception(code, doing(doing));
        }
    }

    private String doing(String what) {
        return what + " '" + path + "'";
    }
}
