package io.github.hyperslab.internal;

/** The numbers of the functions of the C API, as {@code crates/jni/src/dispatch.rs} has them. */
final class Function {
    static final int VERSION = 0;
    static final int ERROR = 1;
    static final int THREADS = 2;
    static final int SET_THREADS = 3;
    static final int OPEN = 4;
    static final int OPEN_BYTES = 5;
    static final int FLUSH = 6;
    static final int CLOSE = 7;
    static final int NAMES = 8;
    static final int OBJECT = 9;
    static final int LINK = 10;
    static final int PATH_AT = 11;
    static final int GROUP_CREATE = 12;
    static final int LINK_CREATE = 13;
    static final int DELETE = 14;
    static final int TYPE_AT = 15;
    static final int ATTRIBUTE_NAMES = 16;
    static final int ATTRIBUTE_INFO = 17;
    static final int ATTRIBUTE_READ = 18;
    static final int ATTRIBUTE_WRITE = 19;
    static final int ATTRIBUTE_DELETE = 20;
    static final int DATASET_OPEN = 21;
    static final int DATASET_CREATE = 22;
    static final int DATASET_CLOSE = 23;
    static final int DATASET_INFO = 24;
    static final int TYPE = 25;
    static final int FILTERS = 26;
    static final int FILL_VALUE = 27;
    static final int READ = 28;
    static final int WRITE = 29;
    static final int RESIZE = 30;
    static final int CHUNK_READ = 31;
    static final int RESOLVE = 32;
    static final int FREE = 33;
    static final int OPEN_WITH = 34;

    private Function() {}
}
