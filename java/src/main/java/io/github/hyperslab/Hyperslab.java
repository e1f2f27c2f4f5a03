package io.github.hyperslab;

import io.github.hyperslab.internal.Library;

/** Settings of the library for this process. */
public final class Hyperslab {
    private Hyperslab() {}

    /**
     * Sets the number of threads of each read and write. Without it there are as many as the
     * variable {@code HYPERSLAB_THREADS} says, or as the process may use.
     *
     * @param threads the number, at least 1
     */
    public static void setThreads(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException(
                    "the number of threads must be at least 1, not " + threads);
        }
        Library.setThreads(threads);
    }

    /**
     * Returns the number of threads of each read and write.
     *
     * @return the number
     */
    public static int getThreads() {
        return Library.threads();
    }

    /**
     * Returns the version of the native library.
     *
     * @return the version, such as {@code "0.1.0"}
     */
    public static String version() {
        return Library.version();
    }

    /**
     * Returns how this JVM calls the native library.
     *
     * @return {@code "FFM"} from Java 22 on, else {@code "JNI"}
     */
    public static String binding() {
        return Library.binding();
    }
}
