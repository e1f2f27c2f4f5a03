package io.github.hyperslab.internal;

import java.nio.file.Path;

/**
 * Chooses how the native library is called. Java 22 and later have another version of this class.
 */
final class Binding {
    private Binding() {}

    static Native bind(Path library) {
        return new JniNative(library);
    }
}
