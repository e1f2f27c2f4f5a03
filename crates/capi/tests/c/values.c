/* Values of every kind, written and read again; tests/c/values.py has what h5py says of the file. Called with a folder
 * that it may write to. */
#include "check.h"

#include <pthread.h>

static hs_file *file;

static hs_dataset *create(const char *path, int32_t type, uint32_t rank, const uint64_t *shape) {
    hs_dataset_options options = {.size = sizeof options, .type = type, .rank = rank, .shape = shape};
    hs_dataset *dataset;
    OK(hs_dataset_create(file, path, &options, &dataset));
    return dataset;
}

/* A dataset of 2x3 numbers -2, -1, 0, ... in each type, written from doubles and read as the type and as doubles. */
static void numbers(void) {
    static const char *const names[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"};
    static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
    const uint64_t shape[2] = {2, 3};
    const double values[6] = {-2, -1, 0, 1, 2, 100};
    for (int32_t type = HS_I8; type <= HS_F64; type++) {
        char path[32];
        double back[6] = {0};
        unsigned char own[48];
        snprintf(path, sizeof path, "/numbers/%s", names[type - HS_I8]);
        hs_dataset *dataset = create(path, type, 2, shape);
        OK(hs_write(dataset, NULL, HS_F64, values, NULL));
        OK(hs_read(dataset, NULL, HS_F64, back, NULL));
        for (int i = 0; i < 6; i++) {
            /* As in libhdf5, what an unsigned type cannot hold becomes 0. */
            CHECK(back[i] == (type >= HS_U8 && type <= HS_U64 && values[i] < 0 ? 0 : values[i]));
        }
        hs_array_info info = {.size = sizeof info, .wanted = HS_WANT_STORAGE};
        OK(hs_dataset_info(dataset, &info));
        CHECK(info.type == type && info.element_size == sizes[type - HS_I8] && info.rank == 2);
        CHECK(info.elements == 6 && info.shape[1] == 3 && info.max_shape[0] == 2 && info.chunk[0] == 0);
        CHECK(info.storage_bytes == 6 * info.element_size && info.layout == HS_LAYOUT_CONTIGUOUS);
        CHECK(info.space == HS_SPACE_SIMPLE && info.fill == HS_FILL_DEFAULT && info.filter_count == 0);
        hs_io_options exact = {.size = sizeof exact, .buffer_size = 6 * info.element_size};
        OK(hs_read(dataset, NULL, type, own, &exact));
        OK(hs_write(dataset, NULL, HS_NATIVE, own, &exact));
        OK(hs_dataset_close(dataset));
    }
    const unsigned char truths[3] = {1, 0, 1};
    const uint64_t three = 3;
    unsigned char back[3];
    hs_dataset *dataset = create("/numbers/bool", HS_BOOL, 1, &three);
    OK(hs_write(dataset, NULL, HS_BOOL, truths, NULL));
    OK(hs_read(dataset, NULL, HS_STORED, back, NULL));
    CHECK(memcmp(back, truths, 3) == 0);
    OK(hs_dataset_close(dataset));
}

/* Big-endian numbers: as they are stored, in this machine's order, and converted. */
static void orders(void) {
    static const unsigned char message[] = {0x10, 0x09, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0};
    const uint64_t two = 2;
    const unsigned char stored[4] = {0x01, 0x02, 0xff, 0xfe};
    hs_dataset_options options = {.size = sizeof options, .type = HS_MESSAGE, .rank = 1, .shape = &two};
    options.type_message = message;
    options.type_message_size = sizeof message;
    hs_dataset *dataset;
    OK(hs_dataset_create(file, "/big", &options, &dataset));
    OK(hs_write(dataset, NULL, HS_STORED, stored, NULL));
    int16_t native[2];
    OK(hs_read(dataset, NULL, HS_NATIVE, native, NULL));
    CHECK(native[0] == 0x0102 && native[1] == -2);
    native[0] = 0;
    OK(hs_read(dataset, NULL, HS_I16, native, NULL));
    CHECK(native[0] == 0x0102 && native[1] == -2);
    unsigned char back[4];
    OK(hs_read(dataset, NULL, HS_STORED, back, NULL));
    CHECK(memcmp(back, stored, 4) == 0);
    hs_io_options io = {.size = sizeof io, .type_message = message, .type_message_size = sizeof message};
    OK(hs_read(dataset, NULL, HS_MESSAGE, back, &io));
    CHECK(memcmp(back, stored, 4) == 0);
    hs_items found;
    OK(hs_type(dataset, &found));
    CHECK(found.count == 1 && found.lengths[0] == sizeof message);
    CHECK(memcmp(found.bytes, message, sizeof message) == 0);
    OK(hs_free(&found));
    hs_array_info info = {.size = sizeof info};
    OK(hs_dataset_info(dataset, &info));
    CHECK(info.type == HS_I16 && info.type_class == 0);
    OK(hs_dataset_close(dataset));
}

/* A cube in compressed chunks that can grow: every form of a selection, the filters, the fill value, the chunks. */
static void selections(void) {
    uint64_t shape[2] = {10, 20}, most[2] = {HS_UNLIMITED, 20}, chunk[2] = {4, 6};
    uint32_t level = 3;
    const hs_filter filters[2] = {{.id = 2}, {.id = 1, .flags = HS_FILTER_MANDATORY, .value_count = 1, .values = &level}};
    const float fill = 7.5f;
    hs_dataset_options options = {.size = sizeof options, .type = HS_F32, .rank = 2, .shape = shape};
    options.max_shape = most;
    options.chunk = chunk;
    options.filters = filters;
    options.filter_count = 2;
    options.fill_value = &fill;
    hs_dataset *dataset;
    OK(hs_dataset_create(file, "/cube", &options, &dataset));
    float all[200], part[12];
    for (int i = 0; i < 200; i++) {
        all[i] = (float)i;
    }
    uint64_t start[2] = {1, 2}, count[2] = {2, 3}, stride[2] = {3, 5}, block[2] = {1, 2};
    hs_selection sel = {.size = sizeof sel, .rank = 2, .start = start, .count = count};
    OK(hs_read(dataset, &sel, HS_F32, part, NULL));
    CHECK(part[0] == fill && part[5] == fill);
    double value;
    OK(hs_fill_value(dataset, HS_F64, &value, NULL));
    CHECK(value == 7.5);
    OK(hs_write(dataset, NULL, HS_F32, all, NULL));
    OK(hs_read(dataset, &sel, HS_F32, part, NULL));
    CHECK(part[0] == 22 && part[2] == 24 && part[3] == 42);
    sel.stride = stride;
    sel.block = block;
    OK(hs_read(dataset, &sel, HS_F32, part, NULL));
    const float expected[12] = {22, 23, 27, 28, 32, 33, 82, 83, 87, 88, 92, 93};
    CHECK(memcmp(part, expected, sizeof part) == 0);
    for (int i = 0; i < 12; i++) {
        part[i] = (float)-i;
    }
    OK(hs_write(dataset, &sel, HS_F32, part, NULL));
    /* Into memory with gaps: each row of three begins 32 bytes after the last, each element 8 after the last. */
    uint64_t strides[2] = {32, 8};
    float wide[16];
    for (int i = 0; i < 16; i++) {
        wide[i] = 99;
    }
    hs_io_options io = {.size = sizeof io, .strides = strides, .threads = 2, .buffer_size = 52};
    sel.stride = sel.block = NULL;
    start[0] = 0;
    OK(hs_read(dataset, &sel, HS_F32, wide, &io));
    CHECK(wide[0] == 2 && wide[2] == 3 && wide[4] == 4 && wide[8] == 0 && wide[10] == -1 && wide[12] == 24);
    CHECK(wide[1] == 99 && wide[6] == 99 && wide[13] == 99);
    count[1] = 0;
    OK(hs_read(dataset, &sel, HS_F32, NULL, NULL));

    shape[0] = 11;
    OK(hs_resize(dataset, 2, shape));
    start[0] = 10;
    start[1] = 0;
    count[0] = count[1] = 1;
    OK(hs_read(dataset, &sel, HS_F32, part, NULL));
    CHECK(part[0] == fill);

    hs_items found;
    OK(hs_filters(dataset, &found));
    CHECK(found.count == 2 && found.lengths[0] == 12 && found.lengths[1] == 12);
    const uint32_t *shuffle = (const uint32_t *)(const void *)found.bytes;
    const uint32_t *deflate = (const uint32_t *)(const void *)(found.bytes + found.offsets[1]);
    CHECK(shuffle[0] == 2 && shuffle[1] == 1 && shuffle[2] == 4);
    CHECK(deflate[0] == 1 && deflate[1] == 0 && deflate[2] == 3);
    OK(hs_free(&found));
    hs_dataset *same;
    options.filters = NULL;
    options.filter_count = 0;
    options.filter_words = " shuffle gzip:3 ";
    OK(hs_dataset_create(file, "/in_words", &options, &same));
    OK(hs_filters(same, &found));
    CHECK(found.count == 2 && found.lengths[0] == 12 && found.lengths[1] == 12);
    deflate = (const uint32_t *)(const void *)(found.bytes + found.offsets[1]);
    CHECK(deflate[0] == 1 && deflate[2] == 3);
    OK(hs_free(&found));
    OK(hs_dataset_close(same));
    OK(hs_delete(file, "/in_words"));

    uint64_t first[2] = {4, 6};
    hs_chunk_info info = {.size = sizeof info};
    OK(hs_chunk_read(dataset, 2, first, &info, &found));
    CHECK(info.is_stored == 1 && info.mask == 0 && info.bytes == found.lengths[0] && info.bytes > 0);
    CHECK(info.address > 0 && info.address != HS_NO_ADDRESS);
    first[0] = 8;
    OK(hs_chunk_write(dataset, 2, first, 0, found.bytes, found.lengths[0]));
    OK(hs_free(&found));
    start[0] = 8;
    start[1] = 6;
    OK(hs_read(dataset, &sel, HS_F32, part, NULL));
    CHECK(part[0] == 86);
    start[1] = 7; /* written in part, so it was in memory until the chunk was read */
    OK(hs_read(dataset, &sel, HS_F32, part, NULL));
    CHECK(part[0] == -8);
    shape[0] = 20;
    OK(hs_resize(dataset, 2, shape));
    first[0] = 16;
    OK(hs_chunk_read(dataset, 2, first, &info, &found));
    CHECK(info.is_stored == 0 && found.count == 0 && info.address == HS_NO_ADDRESS);
    OK(hs_dataset_close(dataset));
}

static void texts(void) {
    static const unsigned char fixed[] = {0x13, 0x00, 0, 0, 6, 0, 0, 0};
    const uint64_t three = 3;
    const char *words[3] = {"Gen\xc3\xa8ve", "", "Z"};
    uint64_t start = 2, count = 1;
    hs_selection sel = {.size = sizeof sel, .rank = 1, .start = &start, .count = &count};
    hs_items found;
    hs_dataset *dataset = create("/words", HS_STRING, 1, &three);
    OK(hs_read_items(dataset, NULL, HS_STRING, &found));
    CHECK(found.count == 3 && found.lengths[0] == 0);
    OK(hs_free(&found));
    OK(hs_write_items(dataset, NULL, HS_STRING, (const void *const *)words, NULL, 3));
    OK(hs_read_items(dataset, NULL, HS_STRING, &found));
    CHECK(found.count == 3 && found.lengths[0] == 7 && found.lengths[1] == 0);
    CHECK(strcmp(text_of(&found, 0), words[0]) == 0 && strcmp(text_of(&found, 2), "Z") == 0);
    OK(hs_free(&found));
    OK(hs_read_items(dataset, &sel, HS_STRING, &found));
    CHECK(found.count == 1 && strcmp(text_of(&found, 0), "Z") == 0);
    OK(hs_free(&found));
    /* Their ids, and the texts of these. */
    unsigned char ids[48];
    OK(hs_read(dataset, NULL, HS_STORED, ids, NULL));
    OK(hs_resolve(file, ids, sizeof ids, 16, 0, 0, &found));
    CHECK(found.count == 3 && strcmp(text_of(&found, 0), words[0]) == 0);
    OK(hs_free(&found));
    OK(hs_dataset_close(dataset));

    hs_dataset_options options = {.size = sizeof options, .type = HS_MESSAGE, .rank = 1, .shape = &three};
    options.type_message = fixed;
    options.type_message_size = sizeof fixed;
    OK(hs_dataset_create(file, "/fixed", &options, &dataset));
    const char *names[3] = {"abcde", "", "z"};
    OK(hs_write_items(dataset, NULL, HS_STRING, (const void *const *)names, NULL, 3));
    OK(hs_read_items(dataset, NULL, HS_STRING, &found));
    CHECK(strcmp(text_of(&found, 0), "abcde") == 0 && found.lengths[1] == 0 && found.lengths[2] == 1);
    OK(hs_free(&found));
    names[0] = "abcdef";
    FAILS(HS_ERROR_REQUEST, "room for 5", hs_write_items(dataset, NULL, HS_STRING, (const void *const *)names, NULL, 3));
    OK(hs_dataset_close(dataset));
}

static void sequences(void) {
    static const unsigned char message[] = {0x19, 0, 0, 0, 16, 0, 0, 0, 0x10, 0x08, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0};
    static const unsigned char of_texts[] = {0x19, 0, 0, 0, 16, 0, 0, 0, 0x19, 0x01, 0, 0, 16, 0, 0, 0,
                                             0x13, 0, 0, 0, 1, 0, 0, 0};
    const uint64_t two = 2;
    const int32_t first[3] = {1, 2, 3};
    const void *lists[2] = {first, NULL};
    uint64_t lengths[2] = {12, 0};
    hs_items found;
    hs_dataset_options options = {.size = sizeof options, .type = HS_MESSAGE, .rank = 1, .shape = &two};
    options.type_message = message;
    options.type_message_size = sizeof message;
    hs_dataset *dataset;
    OK(hs_dataset_create(file, "/lists", &options, &dataset));
    OK(hs_write_items(dataset, NULL, HS_I32, lists, lengths, 2));
    OK(hs_read_items(dataset, NULL, HS_F64, &found));
    CHECK(found.count == 2 && found.lengths[0] == 24 && found.lengths[1] == 0);
    CHECK(((const double *)(const void *)found.bytes)[2] == 3.0);
    OK(hs_free(&found));
    FAILS(HS_ERROR_ARGUMENT, "lengths: sequences", hs_write_items(dataset, NULL, HS_I32, lists, NULL, 2));
    FAILS(HS_ERROR_ARGUMENT, "lengths: sequences",
          hs_attribute_write_items(file, "/", "a", HS_I32, 1, &two, lists, NULL, 2));
    lengths[0] = 11;
    FAILS(HS_ERROR_ARGUMENT, "11 bytes are no whole number", hs_write_items(dataset, NULL, HS_I32, lists, lengths, 2));
    OK(hs_dataset_close(dataset));
    options.type_message = of_texts;
    options.type_message_size = sizeof of_texts;
    OK(hs_dataset_create(file, "/lists of texts", &options, &dataset));
    FAILS(HS_ERROR_UNSUPPORTED, "sequences of texts", hs_write_items(dataset, NULL, HS_STORED, lists, lengths, 2));
    OK(hs_dataset_close(dataset));
}

static void attributes(void) {
    const double limits[2] = {180, 330};
    const int16_t answer = 42;
    const uint64_t two = 2;
    const char *units = "K";
    const char *names[2] = {"time", "lat"};
    OK(hs_attribute_write(file, "/cube", "limits", HS_F64, 1, &two, limits, NULL));
    OK(hs_attribute_write(file, "/cube", "answer", HS_I16, 0, NULL, &answer, NULL));
    OK(hs_attribute_write_items(file, "/cube", "units", HS_STRING, 0, NULL, (const void *const *)&units, NULL, 1));
    OK(hs_attribute_write_items(file, "/cube", "names", HS_STRING, 1, &two, (const void *const *)names, NULL, 2));
    const void *lists[2] = {limits, limits};
    const uint64_t lengths[2] = {16, 8};
    OK(hs_attribute_write_items(file, "/cube", "lists", HS_F64, 1, &two, lists, lengths, 2));
    OK(hs_attribute_write(file, "/cube", "gone", HS_I16, 0, NULL, &answer, NULL));
    OK(hs_attribute_delete(file, "/cube", "gone"));
    hs_items found;
    OK(hs_attribute_names(file, "/cube", &found));
    CHECK(found.count == 5 && strcmp(text_of(&found, 0), "answer") == 0);
    OK(hs_free(&found));
    hs_array_info info = {.size = sizeof info};
    OK(hs_attribute_info(file, "/cube", "limits", &info));
    CHECK(info.rank == 1 && info.shape[0] == 2 && info.type == HS_F64 && info.element_size == 8);
    float narrow[2];
    OK(hs_attribute_read(file, "/cube", "limits", HS_F32, narrow, NULL));
    CHECK(narrow[1] == 330);
    OK(hs_attribute_read_items(file, "/cube", "names", HS_STRING, &found));
    CHECK(found.count == 2 && strcmp(text_of(&found, 1), "lat") == 0);
    OK(hs_free(&found));
    OK(hs_attribute_read_items(file, "/cube", "lists", HS_I32, &found));
    CHECK(found.lengths[0] == 8 && ((const int32_t *)(const void *)found.bytes)[1] == 330);
    OK(hs_free(&found));
    OK(hs_type_at(file, "/cube", "limits", &found));
    CHECK(found.bytes[0] == 0x11 && found.bytes[4] == 8);
    OK(hs_free(&found));
}

static void links(void) {
    hs_object_info object = {.size = sizeof object};
    hs_link_info link = {.size = sizeof link};
    hs_items found;
    OK(hs_group_create(file, "/groups/inner"));
    OK(hs_link_create(file, "/groups/cube", HS_LINK_HARD, "/cube", NULL));
    OK(hs_link_create(file, "/groups/soft", HS_LINK_SOFT, "/nowhere", NULL));
    OK(hs_link_create(file, "/groups/far", HS_LINK_EXTERNAL, "/there", "other.h5"));
    OK(hs_object(file, "groups", &object));
    CHECK(object.kind == HS_GROUP && object.links == 4 && object.attributes == 0);
    OK(hs_object(file, "/groups/cube", &object));
    CHECK(object.kind == HS_DATASET && object.hard_links == 2 && object.attributes == 5);
    OK(hs_path_at(file, object.address, &found));
    CHECK(strcmp(text_of(&found, 0), "/cube") == 0);
    OK(hs_free(&found));
    OK(hs_link(file, "/groups/cube", &link, &found));
    CHECK(link.kind == HS_LINK_HARD && link.address == object.address && found.count == 0);
    OK(hs_free(&found));
    OK(hs_link(file, "groups/soft/", &link, &found));
    CHECK(link.kind == HS_LINK_SOFT && strcmp(text_of(&found, 0), "/nowhere") == 0);
    CHECK(link.address == HS_NO_ADDRESS);
    OK(hs_free(&found));
    OK(hs_link(file, "/groups/far", &link, &found));
    CHECK(link.kind == HS_LINK_EXTERNAL && found.count == 2);
    CHECK(strcmp(text_of(&found, 0), "/there") == 0 && strcmp(text_of(&found, 1), "other.h5") == 0);
    OK(hs_free(&found));
    FAILS(HS_ERROR_NOT_FOUND, "nowhere", hs_object(file, "/groups/soft", &object));
    OK(hs_delete(file, "/groups/inner"));
    OK(hs_names(file, "/groups", &found));
    CHECK(found.count == 3 && strcmp(text_of(&found, 0), "cube") == 0 && found.lengths[2] == 4);
    OK(hs_free(&found));
}

/* Several threads with the same handle: each reads its rows again and again, and has errors of its own. */
static hs_dataset *shared;

static void *reader(void *argument) {
    const uint64_t row = (uint64_t)(size_t)argument;
    uint64_t start[2] = {row, 0}, count[2] = {1, 20};
    hs_selection sel = {.size = sizeof sel, .rank = 2, .start = start, .count = count};
    char expected[32];
    snprintf(expected, sizeof expected, "no-%d", (int)row);
    for (int turn = 0; turn < 200; turn++) {
        hs_dataset *other;
        float values[20];
        OK(hs_read(shared, &sel, HS_F32, values, NULL));
        CHECK(values[19] == (float)(row * 20 + 19));
        FAILS(HS_ERROR_NOT_FOUND, expected, hs_dataset_open(file, expected, &other));
        OK(hs_dataset_open(file, "/cube", &other));
        CHECK(strstr(hs_error(), expected) != NULL);
        OK(hs_dataset_close(other));
    }
    return NULL;
}

static void threads(void) {
    pthread_t threads[4];
    OK(hs_set_threads(2));
    CHECK(hs_threads() == 2);
    OK(hs_dataset_open(file, "/cube", &shared));
    for (size_t i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, reader, (void *)(2 * i)) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    OK(hs_dataset_close(shared));
}

/* Threads read while the file is closed: each read is whole, or an error that says so. */
static void *reader_until_closed(void *argument) {
    float values[400];
    (void)argument;
    for (;;) {
        int32_t code = hs_read(shared, NULL, HS_F32, values, NULL);
        if (code != HS_OK) {
            CHECK(code == HS_ERROR_HANDLE && strstr(hs_error(), "closed") != NULL);
            return NULL;
        }
        CHECK(values[0] == 0 && values[39] == 39);
    }
}

static void closing(const char *path) {
    pthread_t threads[2];
    OK(hs_open(path, HS_READ, &file));
    OK(hs_dataset_open(file, "/cube", &shared));
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, reader_until_closed, NULL) == 0);
    float value[400];
    for (int i = 0; i < 50; i++) OK(hs_read(shared, NULL, HS_F32, value, NULL));
    OK(hs_close(file));
    for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    OK(hs_dataset_close(shared));
}

/* The file as bytes in memory. */
static void image(const char *path) {
    FILE *stream = fopen(path, "rb");
    CHECK(stream != NULL);
    static unsigned char bytes[1 << 18];
    size_t size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    hs_file *copy;
    hs_dataset *dataset;
    OK(hs_open_bytes(bytes, size, &copy));
    memset(bytes, 0, size);
    int32_t values[6];
    OK(hs_dataset_open(copy, "/numbers/f32", &dataset));
    OK(hs_read(dataset, NULL, HS_I32, values, NULL));
    CHECK(values[5] == 100);
    OK(hs_dataset_close(dataset));
    OK(hs_close(copy));
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    const char *path = path_in(arguments[1], "values.h5");
    hs_open_options options = {.size = sizeof options, .version = "v108", .user_block = 512, .track_order = 0};
    options.chunk_cache_bytes = 1 << 20;
    OK(hs_open_with(path, HS_CREATE, &options, &file));
    numbers();
    orders();
    selections();
    texts();
    sequences();
    attributes();
    links();
    OK(hs_flush(file));
    threads();
    OK(hs_close(file));
    closing(path);
    image(path);
    puts("values kept");
    return 0;
}
