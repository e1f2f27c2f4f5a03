/* The contract of every function with bad arguments: an error with its code and a message that says what is wrong, and
 * nothing else. Called with a folder that it may write to. */
#include "check.h"

static const char *const NOT_UTF8 = "\xff";
static char *folder;
static hs_file *file;
static hs_dataset *dataset;

/* A file in memory with /d (4x6 of int32 in chunks), /text, /list, /group, /named_later; `units` at the root. */
static void make(void) {
    uint64_t shape[2] = {4, 6}, most[2] = {HS_UNLIMITED, 6}, chunk[2] = {2, 3}, three = 3;
    hs_dataset_options options = {.size = sizeof options, .type = HS_I32, .rank = 2, .shape = shape};
    options.max_shape = most;
    options.chunk = chunk;
    OK(hs_open(path_in(folder, "contract.h5"), HS_CREATE, &file));
    OK(hs_dataset_create(file, "/d", &options, &dataset));
    hs_dataset_options text = {.size = sizeof text, .type = HS_STRING, .rank = 1, .shape = &three};
    OK(hs_dataset_create(file, "/text", &text, NULL));
    OK(hs_group_create(file, "/group"));
    double half = 0.5;
    OK(hs_attribute_write(file, "/", "scale", HS_F64, 0, NULL, &half, NULL));
}

static void opening(void) {
    hs_file *none = (hs_file *)&folder;
    const char *path = path_in(folder, "other.h5");
    hs_open_options options = {.size = sizeof options};
    FAILS(HS_ERROR_ARGUMENT, "path: the pointer is null", hs_open(NULL, HS_READ, &none));
    CHECK(none == NULL);
    FAILS(HS_ERROR_ARGUMENT, "file: the pointer is null", hs_open(path, HS_READ, NULL));
    FAILS(HS_ERROR_ARGUMENT, "path: the text is not UTF-8", hs_open(NOT_UTF8, HS_READ, &none));
    FAILS(HS_ERROR_ARGUMENT, "mode: 5 is none", hs_open(path, 5, &none));
    FAILS(HS_ERROR_NOT_FOUND, "other.h5", hs_open(path, HS_READ, &none));
    FAILS(HS_ERROR_NOT_FOUND, "other.h5", hs_open(path, HS_WRITE, &none));
    FAILS(HS_ERROR_EXISTS, "contract.h5", hs_open(path_in(folder, "contract.h5"), HS_CREATE_NEW, &none));
    FAILS(HS_ERROR_LOCKED, "contract.h5", hs_open(path_in(folder, "contract.h5"), HS_CREATE, &none));
    options.version = "v7";
    FAILS(HS_ERROR_ARGUMENT, "options.version: \"v7\"", hs_open_with(path, HS_CREATE, &options, &none));
    options.version = NOT_UTF8;
    FAILS(HS_ERROR_ARGUMENT, "options.version", hs_open_with(path, HS_CREATE, &options, &none));
    options = (hs_open_options){.size = sizeof options, .no_locking = 2};
    FAILS(HS_ERROR_ARGUMENT, "options.no_locking: it is 2", hs_open_with(path, HS_CREATE, &options, &none));
    options = (hs_open_options){.size = sizeof options, .user_block = 7};
    FAILS(HS_ERROR_ARGUMENT, "user block", hs_open_with(path, HS_CREATE, &options, &none));
    options = (hs_open_options){.size = 0};
    FAILS(HS_ERROR_ARGUMENT, "its field `size` is 0", hs_open_with(path, HS_CREATE, &options, &none));
    options.size = (size_t)-1;
    FAILS(HS_ERROR_ARGUMENT, "its field `size` is", hs_open_with(path, HS_CREATE, &options, &none));
    FAILS(HS_ERROR_ARGUMENT, "bytes: the pointer is null", hs_open_bytes(NULL, 3, &none));
    FAILS(HS_ERROR_FORMAT, "signature", hs_open_bytes("no HDF5", 7, &none));
    FAILS(HS_ERROR_FORMAT, "", hs_open_bytes("", 0, &none));
    FAILS(HS_ERROR_ARGUMENT, "larger than memory", hs_open_bytes("", (size_t)-1, &none));
    CHECK(none == NULL);
    FAILS(HS_ERROR_ARGUMENT, "threads: 1 or more", hs_set_threads(0));
}

/* Structs of callers that were compiled with another version. */
static void versions(void) {
    struct {
        hs_open_options known;
        uint64_t more;
    } newer = {.known = {.size = sizeof newer}};
    hs_file *other;
    OK(hs_open_with(path_in(folder, "newer.h5"), HS_CREATE, &newer.known, &other));
    OK(hs_close(other));
    newer.more = 1;
    FAILS(HS_ERROR_ARGUMENT, "fields that this version of hyperslab does not know",
          hs_open_with(path_in(folder, "newer.h5"), HS_CREATE, &newer.known, &other));
    /* An older caller has the first fields only: nothing after them is read, or written. */
    struct {
        size_t size;
        int32_t kind;
        uint32_t links;
    } older = {.size = sizeof older, .kind = 9, .links = 9};
    OK(hs_object(file, "/", (hs_object_info *)(void *)&older));
    CHECK(older.kind == HS_GROUP && older.links == 1 && older.size == sizeof older);
}

/* A handle is null, closed, or of another kind. */
static void handles(void) {
    hs_file *closed;
    hs_dataset *gone;
    hs_items items;
    hs_array_info info = {.size = sizeof info};
    char sink[256];
    OK(hs_open(path_in(folder, "handles.h5"), HS_CREATE, &closed));
    OK(hs_close(closed));
    hs_file *const files[] = {NULL, closed, (hs_file *)dataset, (hs_file *)&closed};
    const char *const texts[] = {"is null", "was closed", "a handle of a dataset", "is no handle"};
    for (int i = 0; i < 4; i++) {
        hs_object_info object = {.size = sizeof object};
        hs_link_info link = {.size = sizeof link};
        hs_dataset_options options = {.size = sizeof options, .type = HS_I8};
        FAILS(HS_ERROR_HANDLE, texts[i], hs_flush(files[i]));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_close(files[i]));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_names(files[i], "/", &items));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_object(files[i], "/", &object));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_link(files[i], "/d", &link, NULL));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_path_at(files[i], 96, &items));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_group_create(files[i], "/g"));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_link_create(files[i], "/l", HS_LINK_SOFT, "/d", NULL));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_delete(files[i], "/d"));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_type_at(files[i], "/d", NULL, &items));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_attribute_names(files[i], "/", &items));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_attribute_info(files[i], "/", "scale", &info));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_attribute_read(files[i], "/", "scale", HS_F64, sink, NULL));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_attribute_read_items(files[i], "/", "scale", HS_STRING, &items));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_attribute_write(files[i], "/", "a", HS_I8, 0, NULL, sink, NULL));
        FAILS(HS_ERROR_HANDLE, texts[i],
              hs_attribute_write_items(files[i], "/", "a", HS_STRING, 0, NULL, NULL, NULL, 0));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_attribute_delete(files[i], "/", "scale"));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_dataset_open(files[i], "/d", &gone));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_dataset_create(files[i], "/e", &options, &gone));
        FAILS(HS_ERROR_HANDLE, texts[i], hs_resolve(files[i], sink, 16, 16, 0, 0, &items));
        CHECK(gone == NULL && items.count == 0 && items.owner == NULL);
    }
    OK(hs_dataset_open(file, "/d", &gone));
    OK(hs_dataset_close(gone));
    hs_dataset *const datasets[] = {NULL, gone, (hs_dataset *)file};
    const char *const others[] = {"is null", "was closed", "a handle of a file"};
    for (int i = 0; i < 3; i++) {
        hs_chunk_info chunk = {.size = sizeof chunk};
        uint64_t first[2] = {0, 0};
        FAILS(HS_ERROR_HANDLE, others[i], hs_dataset_close(datasets[i]));
        FAILS(HS_ERROR_HANDLE, others[i], hs_dataset_info(datasets[i], &info));
        FAILS(HS_ERROR_HANDLE, others[i], hs_type(datasets[i], &items));
        FAILS(HS_ERROR_HANDLE, others[i], hs_filters(datasets[i], &items));
        FAILS(HS_ERROR_HANDLE, others[i], hs_fill_value(datasets[i], HS_I32, sink, NULL));
        FAILS(HS_ERROR_HANDLE, others[i], hs_read(datasets[i], NULL, HS_I32, sink, NULL));
        FAILS(HS_ERROR_HANDLE, others[i], hs_write(datasets[i], NULL, HS_I32, sink, NULL));
        FAILS(HS_ERROR_HANDLE, others[i], hs_read_items(datasets[i], NULL, HS_STRING, &items));
        FAILS(HS_ERROR_HANDLE, others[i], hs_write_items(datasets[i], NULL, HS_STRING, NULL, NULL, 0));
        FAILS(HS_ERROR_HANDLE, others[i], hs_resize(datasets[i], 2, first));
        FAILS(HS_ERROR_HANDLE, others[i], hs_chunk_read(datasets[i], 2, first, &chunk, NULL));
        FAILS(HS_ERROR_HANDLE, others[i], hs_chunk_write(datasets[i], 2, first, 0, sink, 8));
    }
    /* A dataset of a file that was closed. */
    hs_dataset_options options = {.size = sizeof options, .type = HS_I8};
    OK(hs_open(path_in(folder, "handles.h5"), HS_WRITE, &closed));
    OK(hs_dataset_create(closed, "/d", &options, &gone));
    OK(hs_close(closed));
    FAILS(HS_ERROR_HANDLE, "closed", hs_read(gone, NULL, HS_I8, sink, NULL));
    FAILS(HS_ERROR_HANDLE, "closed", hs_write(gone, NULL, HS_I8, sink, NULL));
    OK(hs_dataset_close(gone));
    /* Items are released once. */
    OK(hs_names(file, "/", &items));
    hs_items copy = items;
    OK(hs_free(&items));
    CHECK(items.owner == NULL && items.count == 0 && items.bytes == NULL);
    OK(hs_free(&items));
    FAILS(HS_ERROR_HANDLE, "was closed", hs_free(&copy));
    FAILS(HS_ERROR_ARGUMENT, "items: the pointer is null", hs_free(NULL));
}

static void objects(void) {
    hs_items items;
    hs_object_info object = {.size = sizeof object};
    hs_link_info link = {.size = sizeof link};
    FAILS(HS_ERROR_ARGUMENT, "group: the pointer is null", hs_names(file, NULL, &items));
    FAILS(HS_ERROR_ARGUMENT, "names: the pointer is null", hs_names(file, "/", NULL));
    FAILS(HS_ERROR_NOT_FOUND, "missing", hs_names(file, "/missing", &items));
    FAILS(HS_ERROR_REQUEST, "is a dataset, not a group", hs_names(file, "/d", &items));
    FAILS(HS_ERROR_ARGUMENT, "info: the pointer is null", hs_object(file, "/", NULL));
    FAILS(HS_ERROR_ARGUMENT, "path: the pointer is null", hs_object(file, NULL, &object));
    FAILS(HS_ERROR_NOT_FOUND, "missing", hs_object(file, "/missing", &object));
    FAILS(HS_ERROR_ARGUMENT, "path: the text is not UTF-8", hs_object(file, NOT_UTF8, &object));
    object.size = 4;
    FAILS(HS_ERROR_ARGUMENT, "its field `size` is 4", hs_object(file, "/", &object));
    FAILS(HS_ERROR_NOT_FOUND, "root group", hs_link(file, "/", &link, &items));
    FAILS(HS_ERROR_NOT_FOUND, "missing", hs_link(file, "/missing", &link, &items));
    FAILS(HS_ERROR_ARGUMENT, "path", hs_link(file, NULL, &link, &items));
    FAILS(HS_ERROR_ARGUMENT, "info", hs_link(file, "/d", NULL, &items));
    FAILS(HS_ERROR_NOT_FOUND, "no path leads to", hs_path_at(file, 0x10, &items));
    FAILS(HS_ERROR_ARGUMENT, "path", hs_path_at(file, 0x10, NULL));
    FAILS(HS_ERROR_ARGUMENT, "path", hs_group_create(file, NULL));
    FAILS(HS_ERROR_EXISTS, "group", hs_group_create(file, "/group"));
    FAILS(HS_ERROR_ARGUMENT, "target: the pointer", hs_link_create(file, "/l", HS_LINK_SOFT, NULL, NULL));
    FAILS(HS_ERROR_ARGUMENT, "path: the pointer", hs_link_create(file, NULL, HS_LINK_SOFT, "/d", NULL));
    FAILS(HS_ERROR_ARGUMENT, "kind: 2", hs_link_create(file, "/l", 2, "/d", NULL));
    FAILS(HS_ERROR_ARGUMENT, "target_file", hs_link_create(file, "/l", HS_LINK_EXTERNAL, "/d", NULL));
    FAILS(HS_ERROR_ARGUMENT, "target_file", hs_link_create(file, "/l", HS_LINK_HARD, "/d", "a.h5"));
    FAILS(HS_ERROR_NOT_FOUND, "missing", hs_link_create(file, "/l", HS_LINK_HARD, "/missing", NULL));
    FAILS(HS_ERROR_EXISTS, "group", hs_link_create(file, "/group", HS_LINK_HARD, "/d", NULL));
    FAILS(HS_ERROR_ARGUMENT, "path", hs_delete(file, NULL));
    FAILS(HS_ERROR_NOT_FOUND, "missing", hs_delete(file, "/missing"));
    FAILS(HS_ERROR_REQUEST, "is a group", hs_type_at(file, "/group", NULL, &items));
    FAILS(HS_ERROR_NOT_FOUND, "no attribute named \"a\"", hs_type_at(file, "/d", "a", &items));
    FAILS(HS_ERROR_ARGUMENT, "message", hs_type_at(file, "/d", NULL, NULL));
    FAILS(HS_ERROR_ARGUMENT, "path", hs_type_at(file, NULL, NULL, &items));
}

static void attributes(void) {
    hs_items items;
    hs_array_info info = {.size = sizeof info};
    double value = 0;
    uint64_t shape[1] = {3};
    const char *texts[2] = {"a", "b"};
    hs_io_options small = {.size = sizeof small, .buffer_size = 7};
    FAILS(HS_ERROR_NOT_FOUND, "missing", hs_attribute_names(file, "/missing", &items));
    FAILS(HS_ERROR_ARGUMENT, "path", hs_attribute_names(file, NULL, &items));
    FAILS(HS_ERROR_ARGUMENT, "names", hs_attribute_names(file, "/", NULL));
    FAILS(HS_ERROR_NOT_FOUND, "no attribute named", hs_attribute_info(file, "/", "missing", &info));
    FAILS(HS_ERROR_ARGUMENT, "name: the pointer is null", hs_attribute_info(file, "/", NULL, &info));
    info.wanted = 6;
    FAILS(HS_ERROR_ARGUMENT, "info.wanted: 0x6", hs_attribute_info(file, "/", "scale", &info));
    FAILS(HS_ERROR_ARGUMENT, "out: the pointer is null", hs_attribute_read(file, "/", "scale", HS_F64, NULL, NULL));
    FAILS(HS_ERROR_ARGUMENT, "type: 77 is no code", hs_attribute_read(file, "/", "scale", 77, &value, NULL));
    FAILS(HS_ERROR_ARGUMENT, "buffer_size: it is 7", hs_attribute_read(file, "/", "scale", HS_F64, &value, &small));
    FAILS(HS_ERROR_ARGUMENT, "HS_MESSAGE needs", hs_attribute_read(file, "/", "scale", HS_MESSAGE, &value, NULL));
    FAILS(HS_ERROR_REQUEST, "no texts or sequences", hs_attribute_read_items(file, "/", "scale", HS_STRING, &items));
    FAILS(HS_ERROR_ARGUMENT, "items", hs_attribute_read_items(file, "/", "scale", HS_STRING, NULL));
    FAILS(HS_ERROR_ARGUMENT, "data", hs_attribute_write(file, "/", "a", HS_F64, 1, shape, NULL, NULL));
    FAILS(HS_ERROR_ARGUMENT, "shape", hs_attribute_write(file, "/", "a", HS_F64, 1, NULL, &value, NULL));
    FAILS(HS_ERROR_ARGUMENT, "rank: it is 33", hs_attribute_write(file, "/", "a", HS_F64, 33, shape, &value, NULL));
    FAILS(HS_ERROR_ARGUMENT, "no type in the file yet",
          hs_attribute_write(file, "/", "a", HS_STORED, 0, NULL, &value, NULL));
    FAILS(HS_ERROR_ARGUMENT, "hs_attribute_write_items",
          hs_attribute_write(file, "/", "a", HS_STRING, 0, NULL, &value, NULL));
    FAILS(HS_ERROR_ARGUMENT, "count: it is 2, and the shape has 3",
          hs_attribute_write_items(file, "/", "a", HS_STRING, 1, shape, (const void *const *)texts, NULL, 2));
    shape[0] = 2;
    texts[1] = NOT_UTF8;
    FAILS(HS_ERROR_ARGUMENT, "UTF-8",
          hs_attribute_write_items(file, "/", "a", HS_STRING, 1, shape, (const void *const *)texts, NULL, 2));
    FAILS(HS_ERROR_ARGUMENT, "items: the pointer is null",
          hs_attribute_write_items(file, "/", "a", HS_STRING, 1, shape, NULL, NULL, 2));
    texts[1] = NULL;
    FAILS(HS_ERROR_ARGUMENT, "items: the pointer is null",
          hs_attribute_write_items(file, "/", "a", HS_STRING, 1, shape, (const void *const *)texts, NULL, 2));
    uint64_t lengths[2] = {1, 3};
    texts[1] = "a\0b";
    FAILS(HS_ERROR_ARGUMENT, "text 1 has a zero byte",
          hs_attribute_write_items(file, "/", "a", HS_STRING, 1, shape, (const void *const *)texts, lengths, 2));
    FAILS(HS_ERROR_NOT_FOUND, "no attribute named", hs_attribute_delete(file, "/", "a"));
    FAILS(HS_ERROR_ARGUMENT, "name", hs_attribute_delete(file, "/", NULL));
}

static void creating(void) {
    hs_dataset *none = dataset;
    uint64_t shape[2] = {4, 6};
    hs_dataset_options options = {.size = sizeof options, .type = HS_F32, .rank = 2};
    hs_filter filter = {.id = 9999};
    FAILS(HS_ERROR_ARGUMENT, "dataset: the pointer is null", hs_dataset_open(file, "/d", NULL));
    FAILS(HS_ERROR_NOT_FOUND, "missing", hs_dataset_open(file, "/missing", &none));
    CHECK(none == NULL);
    FAILS(HS_ERROR_REQUEST, "is a group, not a dataset", hs_dataset_open(file, "/group", &none));
    FAILS(HS_ERROR_ARGUMENT, "options: the pointer is null", hs_dataset_create(file, "/e", NULL, &none));
    FAILS(HS_ERROR_ARGUMENT, "options.shape: the pointer is null", hs_dataset_create(file, "/e", &options, &none));
    options.shape = shape;
    FAILS(HS_ERROR_EXISTS, "\"d\"", hs_dataset_create(file, "/d", &options, &none));
    FAILS(HS_ERROR_ARGUMENT, "path", hs_dataset_create(file, NULL, &options, &none));
    options.type = HS_NATIVE;
    FAILS(HS_ERROR_ARGUMENT, "no type in the file yet", hs_dataset_create(file, "/e", &options, &none));
    options.type = HS_MESSAGE;
    options.type_message = "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f";
    options.type_message_size = 8;
    FAILS(HS_ERROR_ARGUMENT, "type_message", hs_dataset_create(file, "/e", &options, &none));
    options = (hs_dataset_options){.size = sizeof options, .type = HS_F32, .rank = 2, .shape = shape};
    options.filters = &filter;
    options.filter_count = 1;
    FAILS(HS_ERROR_ARGUMENT, "9999 is no filter", hs_dataset_create(file, "/e", &options, &none));
    filter.id = 1;
    filter.value_count = 1;
    FAILS(HS_ERROR_ARGUMENT, "filter.values: the pointer is null", hs_dataset_create(file, "/e", &options, &none));
    uint32_t level = 10;
    filter.values = &level;
    FAILS(HS_ERROR_CHUNK, "level is 10", hs_dataset_create(file, "/e", &options, &none));
    level = 5;
    filter.flags = 4;
    FAILS(HS_ERROR_ARGUMENT, "filter.flags: 4", hs_dataset_create(file, "/e", &options, &none));
    filter.flags = 0;
    options.filter_words = "shuffle zstd:99";
    FAILS(HS_ERROR_ARGUMENT, "options.filter_words: ", hs_dataset_create(file, "/e", &options, &none));
    options.filter_words = NULL;
    options.layout = HS_LAYOUT_COMPACT;
    FAILS(HS_ERROR_ARGUMENT, "only chunked data go through filters", hs_dataset_create(file, "/e", &options, &none));
    options.chunk = shape;
    FAILS(HS_ERROR_ARGUMENT, "options.layout", hs_dataset_create(file, "/e", &options, &none));
    options.chunk = NULL;
    options.layout = HS_LAYOUT_VIRTUAL;
    FAILS(HS_ERROR_ARGUMENT, "options.layout: 4", hs_dataset_create(file, "/e", &options, &none));
    options.layout = HS_LAYOUT_DEFAULT;
    options.rank = 33;
    FAILS(HS_ERROR_ARGUMENT, "options.rank: it is 33", hs_dataset_create(file, "/e", &options, &none));
    options = (hs_dataset_options){.size = sizeof options, .type = HS_STRING, .fill_value = shape};
    FAILS(HS_ERROR_ARGUMENT, "options.fill_value", hs_dataset_create(file, "/e", &options, &none));
    uint64_t huge[2] = {HS_UNLIMITED, 2};
    options = (hs_dataset_options){.size = sizeof options, .type = HS_F32, .rank = 2, .shape = huge};
    FAILS(HS_ERROR_ARGUMENT, "2^64", hs_dataset_create(file, "/e", &options, &none));
}

static void reading(void) {
    int32_t numbers[24];
    uint64_t start[2] = {0, 0}, count[2] = {4, 6}, stride[2] = {1, 1}, block[2] = {1, 1};
    hs_selection sel = {.size = sizeof sel, .rank = 2, .start = start, .count = count};
    hs_io_options options = {.size = sizeof options, .buffer_size = sizeof numbers - 1};
    hs_items items;
    OK(hs_read(dataset, &sel, HS_I32, numbers, NULL));
    FAILS(HS_ERROR_ARGUMENT, "out: the pointer is null", hs_read(dataset, &sel, HS_I32, NULL, NULL));
    FAILS(HS_ERROR_ARGUMENT, "buffer_size: it is 95, and the elements have 96",
          hs_read(dataset, &sel, HS_I32, numbers, &options));
    FAILS(HS_ERROR_ARGUMENT, "type: -1 is no code", hs_read(dataset, &sel, -1, numbers, NULL));
    FAILS(HS_ERROR_ARGUMENT, "hs_read_items", hs_read(dataset, &sel, HS_STRING, numbers, NULL));
    sel.rank = 1;
    FAILS(HS_ERROR_ARGUMENT, "selection.rank: it is 1, and the dataset has 2", hs_read(dataset, &sel, HS_I32, numbers, NULL));
    sel.rank = 2;
    sel.start = NULL;
    FAILS(HS_ERROR_ARGUMENT, "selection.start: the pointer", hs_read(dataset, &sel, HS_I32, numbers, NULL));
    sel.start = (const uint64_t *)((const char *)start + 1);
    FAILS(HS_ERROR_ARGUMENT, "not aligned", hs_read(dataset, &sel, HS_I32, numbers, NULL));
    sel.start = start;
    start[1] = 1;
    FAILS(HS_ERROR_REQUEST, "index 6 is out of bounds for axis 1", hs_read(dataset, &sel, HS_I32, numbers, NULL));
    start[1] = HS_UNLIMITED;
    FAILS(HS_ERROR_REQUEST, "out of bounds for axis 1", hs_read(dataset, &sel, HS_I32, numbers, NULL));
    start[1] = 0;
    stride[1] = 0;
    sel.stride = stride;
    FAILS(HS_ERROR_REQUEST, "step 0 on axis 1", hs_read(dataset, &sel, HS_I32, numbers, NULL));
    stride[1] = 2;
    block[1] = 3;
    sel.block = block;
    FAILS(HS_ERROR_REQUEST, "step 2 on axis 1", hs_read(dataset, &sel, HS_I32, numbers, NULL));
    sel.size = 3;
    FAILS(HS_ERROR_ARGUMENT, "selection: its field `size`", hs_read(dataset, &sel, HS_I32, numbers, NULL));
    /* Strides under which elements overlap, or leave the memory. */
    uint64_t strides[2] = {4, 4};
    options = (hs_io_options){.size = sizeof options, .strides = strides};
    FAILS(HS_ERROR_REQUEST, "overlap", hs_read(dataset, NULL, HS_I32, numbers, &options));
    strides[0] = HS_UNLIMITED / 2;
    FAILS(HS_ERROR_ARGUMENT, "strides", hs_read(dataset, NULL, HS_I32, numbers, &options));
    strides[0] = HS_UNLIMITED / 3 + 1; /* three of them are 2, if they wrap */
    FAILS(HS_ERROR_ARGUMENT, "strides", hs_read(dataset, NULL, HS_I32, numbers, &options));
    strides[0] = 24;
    options.buffer_size = 95;
    FAILS(HS_ERROR_ARGUMENT, "buffer_size", hs_read(dataset, NULL, HS_I32, numbers, &options));
    options.buffer_size = 0;
    OK(hs_read(dataset, NULL, HS_I32, numbers, &options));
    options.checked = 1;
    FAILS(HS_ERROR_ARGUMENT, "buffer_size: it is 0", hs_read(dataset, NULL, HS_I32, numbers, &options));
    options.checked = 0;
    FAILS(HS_ERROR_ARGUMENT, "only hs_read takes strides", hs_write(dataset, NULL, HS_I32, numbers, &options));
    FAILS(HS_ERROR_ARGUMENT, "data: the pointer is null", hs_write(dataset, NULL, HS_I32, NULL, NULL));
    start[0] = 9;
    sel = (hs_selection){.size = sizeof sel, .rank = 2, .start = start, .count = count};
    FAILS(HS_ERROR_REQUEST, "axis 0", hs_write(dataset, &sel, HS_I32, numbers, NULL));
    FAILS(HS_ERROR_REQUEST, "axis 0", hs_read_items(dataset, &sel, HS_STRING, &items));
    FAILS(HS_ERROR_REQUEST, "no texts or sequences", hs_read_items(dataset, NULL, HS_STRING, &items));
    FAILS(HS_ERROR_ARGUMENT, "items: the pointer is null", hs_read_items(dataset, NULL, HS_STRING, NULL));
    FAILS(HS_ERROR_ARGUMENT, "out", hs_fill_value(dataset, HS_I32, NULL, NULL));
    FAILS(HS_ERROR_ARGUMENT, "message", hs_type(dataset, NULL));
    FAILS(HS_ERROR_ARGUMENT, "filters", hs_filters(dataset, NULL));
    FAILS(HS_ERROR_ARGUMENT, "info", hs_dataset_info(dataset, NULL));

    hs_dataset *text;
    const char *two[3] = {"a", "b", "c"};
    char sink[64];
    OK(hs_dataset_open(file, "/text", &text));
    FAILS(HS_ERROR_ARGUMENT, "hs_write_items", hs_write(text, NULL, HS_STORED, sink, NULL));
    FAILS(HS_ERROR_ARGUMENT, "hs_read_items", hs_read(text, NULL, HS_STRING, sink, NULL));
    FAILS(HS_ERROR_ARGUMENT, "it is HS_STRING", hs_read_items(text, NULL, HS_F32, &items));
    FAILS(HS_ERROR_ARGUMENT, "it is HS_STRING",
          hs_write_items(text, NULL, HS_F32, (const void *const *)two, NULL, 3));
    FAILS(HS_ERROR_ARGUMENT, "count: it is 2",
          hs_write_items(text, NULL, HS_STRING, (const void *const *)two, NULL, 2));
    FAILS(HS_ERROR_REQUEST, "no conversion", hs_read(text, NULL, HS_F32, sink, NULL));
    OK(hs_dataset_close(text));
}

static void chunks(void) {
    uint64_t first[2] = {1, 0}, shape[3] = {8, 6, 1};
    hs_chunk_info info = {.size = sizeof info};
    hs_items items;
    FAILS(HS_ERROR_ARGUMENT, "first: [1, 0] is not the first element", hs_chunk_read(dataset, 2, first, &info, &items));
    FAILS(HS_ERROR_ARGUMENT, "first", hs_chunk_read(dataset, 1, first, &info, &items));
    FAILS(HS_ERROR_ARGUMENT, "first", hs_chunk_read(dataset, 2, NULL, &info, &items));
    first[0] = 4;
    FAILS(HS_ERROR_ARGUMENT, "first", hs_chunk_read(dataset, 2, first, &info, &items));
    first[0] = 0;
    FAILS(HS_ERROR_ARGUMENT, "info", hs_chunk_read(dataset, 2, first, NULL, &items));
    FAILS(HS_ERROR_ARGUMENT, "1 byte or more", hs_chunk_write(dataset, 2, first, 0, NULL, 0));
    FAILS(HS_ERROR_ARGUMENT, "bytes: the pointer is null", hs_chunk_write(dataset, 2, first, 0, NULL, 9));
    FAILS(HS_ERROR_ARGUMENT, "chunk at", hs_chunk_write(dataset, 1, first, 0, "a", 1));
    FAILS(HS_ERROR_REQUEST, "", hs_resize(dataset, 3, shape));
    FAILS(HS_ERROR_ARGUMENT, "shape", hs_resize(dataset, 2, NULL));
    shape[1] = 7;
    FAILS(HS_ERROR_REQUEST, "axis 1 cannot have 7", hs_resize(dataset, 2, shape));
    FAILS(HS_ERROR_ARGUMENT, "offset", hs_resolve(file, first, 16, 16, 1, 0, &items));
    FAILS(HS_ERROR_ARGUMENT, "offset", hs_resolve(file, first, 16, 0, 0, 0, &items));
    FAILS(HS_ERROR_ARGUMENT, "offset", hs_resolve(file, first, 16, 16, (size_t)-1, 0, &items));
    FAILS(HS_ERROR_ARGUMENT, "stored_size", hs_resolve(file, first, 16, 17, 0, 0, &items));
    FAILS(HS_ERROR_ARGUMENT, "stored: the pointer", hs_resolve(file, NULL, 16, 16, 0, 0, &items));
    unsigned char wild[16];
    memset(wild, 0x7f, sizeof wild);
    CHECK(hs_resolve(file, wild, sizeof wild, 16, 0, 0, &items) == HS_ERROR_FORMAT && items.owner == NULL);
}

/* A file that is open for reading is not changed; a damaged one is an error and no value. */
static void damage(void) {
    const char *path = path_in(folder, "contract.h5");
    hs_file *readable;
    hs_items items;
    OK(hs_close(file));
    FAILS(HS_ERROR_HANDLE, "closed", hs_dataset_info(dataset, &(hs_array_info){.size = sizeof(hs_array_info), .wanted = 1}));
    OK(hs_dataset_close(dataset));
    OK(hs_open(path, HS_READ, &readable));
    FAILS(HS_ERROR_REQUEST, "open for reading", hs_group_create(readable, "/new"));
    FAILS(HS_ERROR_REQUEST, "open for reading", hs_delete(readable, "/d"));
    OK(hs_flush(readable));
    OK(hs_close(readable));

    FILE *stream = fopen(path, "rb");
    static unsigned char image[1 << 16];
    size_t size = fread(image, 1, sizeof image, stream);
    fclose(stream);
    CHECK(size > 600 && size < sizeof image);
    int failed = 0;
    /* Every byte of the metadata, one after the other. */
    for (size_t at = 0; at < size; at += 7) {
        image[at] ^= 0x5a;
        int32_t code = hs_open_bytes(image, size, &readable);
        if (code == HS_OK) {
            code = hs_names(readable, "/", &items);
            if (code == HS_OK) {
                hs_object_info object = {.size = sizeof object};
                code = hs_object(readable, "/d", &object);
                OK(hs_free(&items));
            }
            OK(hs_close(readable));
        }
        CHECK(code >= HS_OK && code < HS_ERROR_INTERNAL);
        failed += code == HS_ERROR_FORMAT;
        image[at] ^= 0x5a;
    }
    CHECK(failed > 20);
    FAILS(HS_ERROR_FORMAT, "", hs_open_bytes(image, size - 1, &readable));
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    folder = arguments[1];
    CHECK(strcmp(hs_error(), "") == 0 && strlen(hs_version()) >= 5);
    make();
    opening();
    versions();
    handles();
    objects();
    attributes();
    creating();
    reading();
    chunks();
    damage();
    puts("contract kept");
    return 0;
}
