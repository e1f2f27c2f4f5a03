package io.github.hyperslab.internal;

import java.nio.file.Path;

/**
 * Chooses how the native library is called: by the Foreign Function and Memory API, which Java has
 * since 22.
 */
final class Binding {
    private Binding() {}

    static Native bind(Path library) {
        return Boolean.getBoolean("hyperslab.jni")
                ? new JniNative(library)
                : new ForeignNative(library);
    }
}
