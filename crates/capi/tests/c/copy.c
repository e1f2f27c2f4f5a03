/* Copies a file through the interface: groups, links, datasets with their types, chunks, filters, fill values and elements,
 * and attributes. What cannot be copied is named: "left PATH: why". crates/python/tests/test_capi.py compares the two files
 * by h5py. Called with the path of a file and that of the copy. */
#include "check.h"

static hs_file *from, *to;

static void left(const char *path) { printf("left %s: %s\n", path, hs_error()); }

static char *joined(const char *group, const char *name) {
    size_t size = strlen(group) + strlen(name) + 2;
    char *path = malloc(size);
    CHECK(path != NULL);
    snprintf(path, size, "%s%s%s", group, strcmp(group, "/") == 0 ? "" : "/", name);
    return path;
}

/* Pointers to all items, as the functions that write take them. */
static const void **pointers_to(const hs_items *items) {
    const void **pointers = malloc((items->count + 1) * sizeof *pointers);
    CHECK(pointers != NULL);
    for (size_t i = 0; i < items->count; i++) pointers[i] = items->bytes + items->offsets[i];
    return pointers;
}

static int copy_items(hs_dataset *source, hs_dataset *target) {
    hs_items items;
    if (hs_read_items(source, NULL, HS_STORED, &items)) return 1;
    const void **pointers = pointers_to(&items);
    int failed = hs_write_items(target, NULL, HS_STORED, pointers, items.lengths, items.count);
    free(pointers);
    OK(hs_free(&items));
    return failed;
}

static int copy_elements(hs_dataset *source, hs_dataset *target, const hs_array_info *info) {
    if (info->type_class == 9) return copy_items(source, target);
    hs_io_options io = {.size = sizeof io, .buffer_size = info->elements * info->element_size};
    void *bytes = malloc(io.buffer_size + 1);
    CHECK(bytes != NULL);
    int failed = hs_read(source, NULL, HS_STORED, bytes, &io) || hs_write(target, NULL, HS_STORED, bytes, &io);
    free(bytes);
    return failed;
}

static void copy_dataset(const char *path) {
    hs_dataset *source, *target;
    hs_array_info info = {.size = sizeof info};
    hs_items type, filters;
    if (hs_dataset_open(from, path, &source)) {
        left(path);
        return;
    }
    OK(hs_dataset_info(source, &info));
    OK(hs_type(source, &type));
    OK(hs_filters(source, &filters));
    hs_filter list[32];
    for (size_t i = 0; i < filters.count; i++) {
        const uint32_t *words = (const uint32_t *)(const void *)(filters.bytes + filters.offsets[i]);
        list[i] = (hs_filter){.id = (uint16_t)words[0], .flags = words[1] & 1 ? HS_FILTER_OPTIONAL : HS_FILTER_MANDATORY};
        list[i].value_count = (uint32_t)(filters.lengths[i] / 4 - 2);
        list[i].values = words + 2;
        /* Stored parameters of LZF, N-bit, scale-offset and bitshuffle are not those that make them. */
        if (words[0] == 32008) {
            list[i].values += 3;
            list[i].value_count -= 3;
        }
    }
    hs_dataset_options options = {.size = sizeof options, .type = HS_MESSAGE, .rank = info.rank, .shape = info.shape};
    options.type_message = type.bytes;
    options.type_message_size = type.lengths[0];
    options.max_shape = info.layout == HS_LAYOUT_CHUNKED ? info.max_shape : NULL;
    options.chunk = info.layout == HS_LAYOUT_CHUNKED ? info.chunk : NULL;
    options.filters = list;
    options.filter_count = filters.count;
    options.layout = info.layout <= HS_LAYOUT_CHUNKED ? info.layout : HS_LAYOUT_DEFAULT;
    void *fill = NULL;
    if (info.fill == HS_FILL_DEFINED && info.type_class != 9) {
        fill = malloc(info.element_size);
        CHECK(fill != NULL);
        OK(hs_fill_value(source, HS_STORED, fill, NULL));
        options.fill_value = fill;
    }
    if (info.space == HS_SPACE_NULL) {
        printf("left %s: no elements\n", path);
    } else if (hs_dataset_create(to, path, &options, &target)) {
        left(path);
    } else {
        if (copy_elements(source, target, &info)) {
            left(path);
            OK(hs_delete(to, path));
        }
        OK(hs_dataset_close(target));
    }
    free(fill);
    OK(hs_free(&filters));
    OK(hs_free(&type));
    OK(hs_dataset_close(source));
}

static int copy_attribute(const char *path, const char *name) {
    hs_array_info info = {.size = sizeof info};
    hs_items type, items;
    if (hs_attribute_info(from, path, name, &info)) return 1;
    if (info.type == HS_STRING) {
        if (hs_attribute_read_items(from, path, name, HS_STRING, &items)) return 1;
        const void **pointers = pointers_to(&items);
        int failed = hs_attribute_write_items(to, path, name, HS_STRING, info.rank, info.shape, pointers, items.lengths,
                                              items.count);
        free(pointers);
        OK(hs_free(&items));
        return failed;
    }
    OK(hs_type_at(from, path, name, &type));
    hs_io_options io = {.size = sizeof io, .type_message = type.bytes, .type_message_size = type.lengths[0]};
    void *bytes = malloc(info.elements * info.element_size + 1);
    CHECK(bytes != NULL);
    int failed = hs_attribute_read(from, path, name, HS_STORED, bytes, NULL) ||
                 hs_attribute_write(to, path, name, HS_MESSAGE, info.rank, info.shape, bytes, &io);
    free(bytes);
    OK(hs_free(&type));
    return failed;
}

static void copy_attributes(const char *path) {
    hs_items names;
    hs_object_info info = {.size = sizeof info};
    if (hs_object(to, path, &info)) return; /* the object was left */
    OK(hs_attribute_names(from, path, &names));
    for (size_t i = 0; i < names.count; i++) {
        const char *name = text_of(&names, i);
        if (copy_attribute(path, name)) printf("left %s@%s: %s\n", path, name, hs_error());
    }
    OK(hs_free(&names));
}

static void copy_group(const char *path, int depth) {
    hs_items names, targets;
    copy_attributes(path);
    if (depth > 8) {
        printf("left %s: too deep\n", path);
        return;
    }
    OK(hs_names(from, path, &names));
    for (size_t i = 0; i < names.count; i++) {
        char *child = joined(path, text_of(&names, i));
        hs_link_info link = {.size = sizeof link};
        hs_object_info object = {.size = sizeof object};
        OK(hs_link(from, child, &link, &targets));
        if (link.kind == HS_LINK_SOFT) {
            OK(hs_link_create(to, child, HS_LINK_SOFT, text_of(&targets, 0), NULL));
        } else if (link.kind == HS_LINK_EXTERNAL) {
            OK(hs_link_create(to, child, HS_LINK_EXTERNAL, text_of(&targets, 0), text_of(&targets, 1)));
        } else if (hs_object(from, child, &object)) {
            left(child);
        } else if (object.kind == HS_GROUP) {
            OK(hs_group_create(to, child));
            copy_group(child, depth + 1);
        } else if (object.kind == HS_DATASET) {
            copy_dataset(child);
            copy_attributes(child);
        } else {
            printf("left %s: a committed datatype\n", child);
        }
        OK(hs_free(&targets));
        free(child);
    }
    OK(hs_free(&names));
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    if (hs_open(arguments[1], HS_READ, &from)) {
        printf("left /: %s\n", hs_error());
        return 0;
    }
    OK(hs_open(arguments[2], HS_CREATE, &to));
    copy_group("/", 0);
    OK(hs_close(to));
    OK(hs_close(from));
    return 0;
}
