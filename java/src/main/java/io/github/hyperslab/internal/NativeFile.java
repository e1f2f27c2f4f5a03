package io.github.hyperslab.internal;

import io.github.hyperslab.exceptions.HdfException;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * An open file of the native library, with the datasets that were opened in it.
 *
 * <p>Calls hold the lock for reading, {@link #close()} for writing: it waits for calls that run,
 * and later calls fail. Those that replace, resize or remove hold it for writing too, so that
 * several calls that find out what something is like and then read it see one state.
 *
 * <p>A thread takes this lock before any monitor that it shares with other threads and holds during
 * calls. One that waited for the lock with such a monitor could wait for a thread that holds the
 * lock and waits for the monitor.
 */
public final class NativeFile implements AutoCloseable {
    /** An existing file, for reading. */
    public static final int READ = 0;

    /** An existing file, for reading and writing. */
    public static final int WRITE = 1;

    /** A new file, which replaces an existing one. */
    public static final int CREATE = 2;

    /** The size of {@code hs_open_options}, and where {@code mapped} is. */
    private static final int OPEN_OPTIONS = 64;

    private static final int MAPPED = 56;

    private static final Cleaner CLEANER = Cleaner.create();

    private final State state;
    private final Cleaner.Cleanable cleanable;

    private NativeFile(long handle, String name) {
        state = new State(handle, name);
        cleanable = CLEANER.register(this, state);
    }

    /**
     * Opens a file.
     *
     * @param path the path in the default file system
     * @param mode one of the constants
     * @return the file
     */
    public static NativeFile open(String path, int mode) {
        Library.load();
        try (Frame frame = Frame.open()) {
            Frame.Struct handle = frame.struct(Long.BYTES);
            Library.check(
                    Library.call(Function.OPEN, frame.text(path), mode, handle.address()),
                    "open '" + path + "'");
            return new NativeFile(handle.getLong(0), path);
        }
    }

    /**
     * Opens a file for reading by mapping it into memory.
     *
     * @param path the path in the default file system
     * @return the file
     */
    public static NativeFile openMapped(String path) {
        Library.load();
        try (Frame frame = Frame.open()) {
            Frame.Struct options = frame.struct(OPEN_OPTIONS);
            options.putLong(0, OPEN_OPTIONS);
            options.putInt(MAPPED, 1);
            Frame.Struct handle = frame.struct(Long.BYTES);
            long code =
                    Library.call(
                            Function.OPEN_WITH,
                            frame.text(path),
                            READ,
                            options.address(),
                            handle.address());
            Library.check(code, "map '" + path + "'");
            return new NativeFile(handle.getLong(0), path);
        }
    }

    /**
     * Opens a file in memory, for reading.
     *
     * @param bytes the file, which is copied
     * @return the file
     */
    public static NativeFile open(ByteBuffer bytes) {
        Library.load();
        ByteBuffer direct =
                bytes.isDirect()
                        ? bytes
                        : ByteBuffer.allocateDirect(bytes.remaining())
                                .put(bytes.duplicate())
                                .flip();
        try (Frame frame = Frame.open()) {
            Frame.Struct handle = frame.struct(Long.BYTES);
            Native.checkAlive(direct);
            long address = Library.NATIVE.address(direct) + direct.position();
            Library.check(
                    Library.call(
                            Function.OPEN_BYTES, address, direct.remaining(), handle.address()),
                    "open a file in memory");
            return new NativeFile(handle.getLong(0), "a file in memory");
        } finally {
            java.lang.ref.Reference.reachabilityFence(direct);
        }
    }

    /** A call with the handle of the open file. */
    interface Call<T> {
        T with(long file, Frame frame);
    }

    /** Runs a call while the file cannot be closed. */
    <T> T call(Call<T> call) {
        return reading(
                () -> {
                    try (Frame frame = Frame.open()) {
                        return call.with(state.open(), frame);
                    }
                });
    }

    /** Runs a call that replaces, resizes or removes what others may read, while no other runs. */
    <T> T change(Call<T> call) {
        return changing(() -> call(call));
    }

    /**
     * Runs calls that belong together while nothing is replaced, resized, removed or closed.
     *
     * @param <T> the class of the result
     * @param calls the calls, none of which changes such things
     * @return their result
     */
    public <T> T reading(Supplier<T> calls) {
        return locked(state.lock.readLock(), calls);
    }

    /**
     * Runs calls that belong together while no other call runs.
     *
     * @param <T> the class of the result
     * @param calls the calls
     * @return their result
     */
    public <T> T changing(Supplier<T> calls) {
        assert state.lock.getReadHoldCount() == 0 || state.lock.isWriteLockedByCurrentThread()
                : "a change within a read would wait for itself";
        return locked(state.lock.writeLock(), calls);
    }

    private <T> T locked(Lock lock, Supplier<T> calls) {
        lock.lock();
        try {
            return calls.get();
        } finally {
            lock.unlock();
            java.lang.ref.Reference.reachabilityFence(this);
        }
    }

    /** Opens a dataset that is closed with the file, or before. */
    long openDataset(String path) {
        return call(
                (file, frame) -> {
                    Frame.Struct handle = frame.struct(Long.BYTES);
                    long code =
                            Library.call(
                                    Function.DATASET_OPEN,
                                    file,
                                    frame.text(path),
                                    handle.address());
                    Library.check(code, "open the dataset '" + path + "'");
                    state.add(handle.getLong(0));
                    return handle.getLong(0);
                });
    }

    /** Notes a dataset that was created. */
    void opened(long dataset) {
        state.add(dataset);
    }

    /** Closes an open dataset when its owner becomes unreachable, or is cleaned before. */
    Cleaner.Cleanable closeWith(Object owner, long dataset) {
        State of = state;
        return CLEANER.register(owner, () -> of.closeDataset(dataset));
    }

    /** Writes what was not written yet. */
    public void flush() {
        call(
                (file, frame) -> {
                    Library.check(Library.call(Function.FLUSH, file), "write '" + state.name + "'");
                    return null;
                });
    }

    /**
     * Tells whether the file is open.
     *
     * @return {@code false} after {@link #close()}
     */
    public boolean isOpen() {
        return state.handle != 0;
    }

    /** Closes the file. A second call does nothing. */
    @Override
    public void close() {
        try {
            state.close();
        } finally {
            cleanable.clean();
        }
    }

    /** What is to be freed, without a reference to the file, which may be unreachable. */
    private static final class State implements Runnable {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final String name;
        private final Set<Long> datasets = new HashSet<>();
        private volatile long handle;

        State(long handle, String name) {
            this.handle = handle;
            this.name = name;
        }

        long open() {
            if (handle == 0) {
                throw new HdfException("'" + name + "' is closed");
            }
            return handle;
        }

        synchronized void add(long dataset) {
            datasets.add(dataset);
        }

        /** Closes a dataset, unless it was closed with the file. */
        synchronized void closeDataset(long dataset) {
            if (datasets.remove(dataset)) {
                Library.call(Function.DATASET_CLOSE, dataset);
            }
        }

        void close() {
            lock.writeLock().lock();
            try {
                if (handle == 0) {
                    return;
                }
                long file = handle;
                handle = 0;
                synchronized (this) {
                    for (long dataset : datasets) {
                        Library.call(Function.DATASET_CLOSE, dataset);
                    }
                    datasets.clear();
                }
                Library.check(Library.call(Function.CLOSE, file), "close '" + name + "'");
            } finally {
                lock.writeLock().unlock();
            }
        }

        /** The cleaner's thread has no caller to tell of an error. */
        @Override
        public void run() {
            try {
                close();
            } catch (HdfException error) {
                System.getLogger(NativeFile.class.getName())
                        .log(
                                System.Logger.Level.WARNING,
                                "a file that was not closed could not be written",
                                error);
            }
        }
    }
}
