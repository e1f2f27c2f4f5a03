package io.github.hyperslab.internal;

import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.HdfFilterException;
import io.github.hyperslab.exceptions.HdfWritingException;
import io.github.hyperslab.exceptions.UnsupportedHdfException;

import java.nio.charset.StandardCharsets;

/** The native library, its settings, and how its errors become exceptions. */
public final class Library {
    static final int OK = 0;
    static final int ERROR_NOT_FOUND = 4;
    private static final int ERROR_EXISTS = 5;
    private static final int ERROR_CHUNK = 7;
    private static final int ERROR_UNSUPPORTED = 10;

    /** Longer messages are cut. */
    private static final int LONGEST_MESSAGE = 4096;

    static final Native NATIVE;
    private static final HdfException FAILURE;

    static {
        Native library = null;
        HdfException failure = null;
        try {
            library = Binding.bind(NativeLibrary.find());
        } catch (HdfException error) {
            failure = error;
        } catch (UnsatisfiedLinkError | IllegalArgumentException error) {
            failure =
                    new HdfException(
                            "the native library cannot be loaded: " + error.getMessage(), error);
        } catch (IllegalCallerException error) {
            failure =
                    new HdfException(
                            "Java refuses to load the native library:"
                                    + " start it with --enable-native-access=ALL-UNNAMED",
                            error);
        }
        NATIVE = library;
        FAILURE = failure;
    }

    private Library() {}

    /**
     * Does nothing if the native library was loaded.
     *
     * @throws HdfException if it was not
     */
    static void load() {
        if (NATIVE == null) {
            throw new HdfException(FAILURE.getMessage(), FAILURE);
        }
    }

    /**
     * Returns the version of the native library.
     *
     * @return the version
     */
    public static String version() {
        load();
        return text(call(Function.VERSION));
    }

    /**
     * Returns how the native library is called.
     *
     * @return {@code "FFM"} or {@code "JNI"}
     */
    public static String binding() {
        load();
        return NATIVE.name();
    }

    /**
     * Returns the number of threads of a read or write.
     *
     * @return the number
     */
    public static int threads() {
        load();
        return (int) call(Function.THREADS);
    }

    /**
     * Sets the number of threads of a read or write.
     *
     * @param threads the number, at least 1
     */
    public static void setThreads(int threads) {
        load();
        check(call(Function.SET_THREADS, threads), "set the number of threads");
    }

    /** Throws what an error code means. */
    static void check(long code, String doing) {
        if (code != OK) {
            throw exception(code, doing);
        }
    }

    static HdfException exception(long code, String doing) {
        String message = doing + ": " + text(call(Function.ERROR));
        return switch ((int) code) {
            case ERROR_EXISTS -> new HdfWritingException(message);
            case ERROR_CHUNK -> new HdfFilterException(message);
            case ERROR_UNSUPPORTED -> new UnsupportedHdfException(message);
            default -> new HdfException(message);
        };
    }

    static long call(int function, long... arguments) {
        long[] all = arguments.length == 9 ? arguments : java.util.Arrays.copyOf(arguments, 9);
        return NATIVE.call(
                function, all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8]);
    }

    private static String text(long address) {
        var view = NATIVE.view(address, LONGEST_MESSAGE);
        byte[] bytes = new byte[LONGEST_MESSAGE];
        int length = 0;
        for (byte b = view.get(0); b != 0 && length < LONGEST_MESSAGE; b = view.get(length)) {
            bytes[length++] = b;
            if (length == LONGEST_MESSAGE) {
                break;
            }
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
