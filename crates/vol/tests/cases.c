/* What programs in C ask of libhdf5 that h5py cannot: one case for each name. A case prints the elements that it
 * reads, and the output is the same natively and through the connector.
 *
 *     cases NAME FILE
 */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 120
#define COLUMNS 100
#define COUNT (ROWS * COLUMNS)
#define CHECK(call) do { if ((call) < 0) { printf("failed: %s\n", #call); exit(3); } } while (0)

static int numbers[COUNT], others[COUNT];
static const hsize_t shape[2] = {ROWS, COLUMNS};
static const hsize_t chunk[2] = {30, 100};

/* Prints bytes as a number that depends on each of them, and the first elements. */
static void show(const char *what, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    printf("%s %016llx", what, (unsigned long long)hash);
    for (size_t i = 0; i < (size < 32 ? size : 32); i++)
        printf(" %02x", at[i]);
    printf("\n");
}

static hid_t gzip(void)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(creation, 2, chunk));
    CHECK(H5Pset_shuffle(creation));
    CHECK(H5Pset_deflate(creation, 3));
    return creation;
}

static hid_t create(hid_t file, const char *name, hid_t type, hid_t creation)
{
    hid_t space = H5Screate_simple(2, shape, NULL);
    return H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
}

/* Writes a file with one dataset of integers. */
static void prepare(const char *path, hid_t type, hid_t creation)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t data = create(file, "d", type, creation);
    CHECK(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
    CHECK(H5Dclose(data));
    CHECK(H5Fclose(file));
}

static hid_t opened(const char *path, unsigned flags)
{
    hid_t file = H5Fopen(path, flags, H5P_DEFAULT);
    CHECK(file);
    return H5Dopen2(file, "d", H5P_DEFAULT);
}

static void done(hid_t data)
{
    hid_t file = H5Iget_file_id(data);
    CHECK(H5Dclose(data));
    while (H5Iget_ref(file) > 1)
        CHECK(H5Idec_ref(file));
    CHECK(H5Fclose(file));
}

/* Selects some rows of a dataset. */
static hid_t rows(hid_t data, hsize_t first, hsize_t count)
{
    hsize_t start[2] = {first, 0}, block[2] = {count, COLUMNS};
    hid_t space = H5Dget_space(data);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL));
    return space;
}

/* Writes other numbers to some rows of a dataset. */
static void write_rows(hid_t data, hsize_t first, hsize_t count)
{
    hsize_t block[2] = {count, COLUMNS};
    hid_t space = rows(data, first, count), memory = H5Screate_simple(2, block, NULL);
    CHECK(H5Dwrite(data, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, others));
    CHECK(H5Sclose(space));
    CHECK(H5Sclose(memory));
}

static void write_all(hid_t data, hid_t type)
{
    CHECK(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
}

static void read_all(const char *what, hid_t data, hid_t type, hid_t transfer)
{
    size_t size = H5Tget_size(type) * COUNT;
    char *out = malloc(size);
    memset(out, 0xa5, size);
    herr_t result;
    H5E_BEGIN_TRY { result = H5Dread(data, type, H5S_ALL, H5S_ALL, transfer, out); } H5E_END_TRY
    if (result < 0)
        printf("%s failed\n", what);
    else
        show(what, out, size);
    free(out);
}

static void plain(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t data = opened(path, H5F_ACC_RDONLY);
    read_all("int", data, H5T_NATIVE_INT, H5P_DEFAULT);
    read_all("double", data, H5T_NATIVE_DOUBLE, H5P_DEFAULT);
    read_all("big", data, H5T_STD_I32BE, H5P_DEFAULT);
    done(data);
}

static void transform_read(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Pset_data_transform(transfer, "2*x+1"));
    hid_t data = opened(path, H5F_ACC_RDONLY);
    read_all("transformed", data, H5T_NATIVE_INT, transfer);
    done(data);
}

static void transform_write(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Pset_data_transform(transfer, "x*3"));
    hid_t data = opened(path, H5F_ACC_RDWR);
    CHECK(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer, numbers));
    done(data);
    data = opened(path, H5F_ACC_RDONLY);
    read_all("written", data, H5T_NATIVE_INT, H5P_DEFAULT);
    done(data);
}

static H5T_conv_ret_t handle(H5T_conv_except_t kind, hid_t from, hid_t to, void *source, void *target, void *data)
{
    (void)kind, (void)from, (void)to, (void)source;
    *(signed char *)target = *(signed char *)data;
    return H5T_CONV_HANDLED;
}

static void conversion_callback(const char *path)
{
    signed char ninety = 90;
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Pset_type_conv_cb(transfer, handle, &ninety));
    hid_t data = opened(path, H5F_ACC_RDONLY);
    read_all("handled", data, H5T_NATIVE_SCHAR, transfer);
    read_all("clipped", data, H5T_NATIVE_SCHAR, H5P_DEFAULT);
    done(data);
}

static herr_t halve(hid_t from, hid_t to, H5T_cdata_t *info, size_t count, size_t stride, size_t background_stride,
                    void *buffer, void *background, hid_t transfer)
{
    (void)from, (void)to, (void)background_stride, (void)background, (void)transfer;
    if (info->command != H5T_CONV_CONV)
        return 0;
    for (size_t i = count; i-- > 0;) {
        int value;
        double half;
        memcpy(&value, (char *)buffer + i * (stride ? stride : sizeof value), sizeof value);
        half = value / 2.0;
        memcpy((char *)buffer + i * (stride ? stride : sizeof half), &half, sizeof half);
    }
    return 0;
}

static void registered_conversion(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t data = opened(path, H5F_ACC_RDONLY);
    read_all("before", data, H5T_NATIVE_DOUBLE, H5P_DEFAULT);
    CHECK(H5Tregister(H5T_PERS_HARD, "halve", H5T_NATIVE_INT, H5T_NATIVE_DOUBLE, halve));
    read_all("registered", data, H5T_NATIVE_DOUBLE, H5P_DEFAULT);
    done(data);
}

/* Writes a file whose chunks have checksums, and changes a byte in the chunk that begins with `row`. */
static void prepare_damaged(const char *path, hsize_t row)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(creation, 2, chunk));
    CHECK(H5Pset_fletcher32(creation));
    prepare(path, H5T_STD_I32LE, creation);
    haddr_t address;
    hsize_t size, offset[2] = {row, 0};
    unsigned mask;
    hid_t data = opened(path, H5F_ACC_RDONLY);
    CHECK(H5Dget_chunk_info_by_coord(data, offset, &mask, &address, &size));
    done(data);
    FILE *file = fopen(path, "r+b");
    fseek(file, (long)(address + size / 2), SEEK_SET);
    int byte = fgetc(file);
    fseek(file, (long)(address + size / 2), SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void checksums(const char *path)
{
    prepare_damaged(path, 30);
    hid_t data = opened(path, H5F_ACC_RDONLY);
    read_all("checked", data, H5T_NATIVE_INT, H5P_DEFAULT);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Pset_edc_check(transfer, H5Z_DISABLE_EDC));
    read_all("unchecked", data, H5T_NATIVE_INT, transfer);
    done(data);
}

static H5Z_cb_return_t go_on(H5Z_filter_t filter, void *buffer, size_t size, void *data)
{
    (void)filter, (void)buffer, (void)size, (void)data;
    return H5Z_CB_CONT;
}

static void filter_callback(const char *path)
{
    prepare_damaged(path, 60);
    hid_t data = opened(path, H5F_ACC_RDONLY);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Pset_filter_callback(transfer, go_on, NULL));
    read_all("with a callback", data, H5T_NATIVE_INT, transfer);
    done(data);
}

static void edge_chunks(const char *path)
{
    const hsize_t odd[2] = {50, 64};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST));
    CHECK(H5Pset_chunk(creation, 2, odd));
    CHECK(H5Pset_deflate(creation, 5));
    CHECK(H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t data = create(file, "d", H5T_STD_I32LE, creation);
    write_all(data, H5T_NATIVE_INT);
    CHECK(H5Fclose(file));
    done(data);
    data = opened(path, H5F_ACC_RDONLY);
    read_all("edges", data, H5T_NATIVE_INT, H5P_DEFAULT);
    hsize_t count;
    CHECK(H5Dget_num_chunks(data, H5S_ALL, &count));
    for (hsize_t i = 0; i < count; i++) {
        hsize_t offset[2], size;
        haddr_t address;
        unsigned mask;
        CHECK(H5Dget_chunk_info(data, H5S_ALL, i, offset, &mask, &address, &size));
        printf("chunk %d %d mask %u %s\n", (int)offset[0], (int)offset[1], mask, size == 50 * 64 * 4 ? "raw" : "encoded");
    }
    done(data);
}

static void undefined_fill(const char *path)
{
    hid_t creation = gzip();
    CHECK(H5Pset_fill_value(creation, H5T_NATIVE_INT, NULL));
    CHECK(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t data = create(file, "d", H5T_STD_I32LE, creation);
    write_rows(data, 30, 30);
    CHECK(H5Fclose(file));
    done(data);
    data = opened(path, H5F_ACC_RDONLY);
    read_all("left as it was", data, H5T_NATIVE_INT, H5P_DEFAULT);
    done(data);
}

static void strided_memory(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t data = opened(path, H5F_ACC_RDONLY);
    const hsize_t wide[2] = {ROWS * 2, COLUMNS + 7}, start[2] = {1, 3}, stride[2] = {2, 1}, count[2] = {ROWS, COLUMNS};
    hid_t memory = H5Screate_simple(2, wide, NULL);
    CHECK(H5Sselect_hyperslab(memory, H5S_SELECT_SET, start, stride, count, NULL));
    size_t size = wide[0] * wide[1] * sizeof(double);
    double *out = malloc(size);
    memset(out, 0xa5, size);
    CHECK(H5Dread(data, H5T_NATIVE_DOUBLE, memory, H5S_ALL, H5P_DEFAULT, out));
    show("strided", out, size);
    memset(out, 0xa5, size);
    CHECK(H5Dread(data, H5T_NATIVE_INT, memory, H5S_ALL, H5P_DEFAULT, out));
    show("strided int", out, size);
    free(out);
    done(data);
}

static void multi(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), data[3];
    hid_t types[3] = {H5T_NATIVE_INT, H5T_NATIVE_INT, H5T_NATIVE_INT}, all[3] = {H5S_ALL, H5S_ALL, H5S_ALL};
    hid_t creations[3] = {gzip(), H5P_DEFAULT, gzip()};
    const char *names[3] = {"a", "b", "c"};
    const void *from[3] = {numbers, numbers, numbers};
    for (int i = 0; i < 3; i++)
        data[i] = create(file, names[i], i == 2 ? H5T_STD_I16BE : H5T_STD_I32LE, creations[i]);
    CHECK(H5Dwrite_multi(3, data, types, all, all, H5P_DEFAULT, from));
    for (int i = 0; i < 3; i++)
        CHECK(H5Dclose(data[i]));
    CHECK(H5Fclose(file));
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    static int out[3][COUNT];
    void *into[3] = {out[0], out[1], out[2]};
    for (int i = 0; i < 3; i++)
        data[i] = H5Dopen2(file, names[i], H5P_DEFAULT);
    CHECK(H5Dread_multi(3, data, types, all, all, H5P_DEFAULT, into));
    for (int i = 0; i < 3; i++) {
        show(names[i], out[i], sizeof out[i]);
        CHECK(H5Dclose(data[i]));
    }
    CHECK(H5Fclose(file));
}

static void block_of_memory(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t data = opened(path, H5F_ACC_RDONLY), space = H5Dget_space(data);
    hsize_t start[2] = {7, 5}, block[2] = {100, 90};
    static int out[9000];
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL));
    CHECK(H5Dread(data, H5T_NATIVE_INT, H5S_BLOCK, space, H5P_DEFAULT, out));
    show("block", out, sizeof out);
    done(data);
}

static void delayed(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t data = opened(path, H5F_ACC_RDWR);
    write_rows(data, 40, 3);
    read_all("unflushed part", data, H5T_NATIVE_INT, H5P_DEFAULT);
    write_all(data, H5T_NATIVE_INT);
    read_all("whole over part", data, H5T_NATIVE_INT, H5P_DEFAULT);
    write_rows(data, 40, 3);
    read_all("part over whole", data, H5T_NATIVE_INT, H5P_DEFAULT);
    done(data);
    data = opened(path, H5F_ACC_RDONLY);
    read_all("closed", data, H5T_NATIVE_INT, H5P_DEFAULT);
    done(data);
}

static void chunk_cache(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    CHECK(H5Pset_chunk_cache(access, 7, 1, 1.0));
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, "d", access);
    write_all(data, H5T_NATIVE_INT);
    read_all("without a cache", data, H5T_NATIVE_INT, H5P_DEFAULT);
    CHECK(H5Fclose(file));
    done(data);
}

static void resized(const char *path)
{
    const hsize_t limits[2] = {H5S_UNLIMITED, H5S_UNLIMITED}, small[2] = {45, 100};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, shape, limits);
    hid_t data = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, gzip(), H5P_DEFAULT);
    write_all(data, H5T_NATIVE_INT);
    CHECK(H5Dset_extent(data, small));
    CHECK(H5Dset_extent(data, shape));
    read_all("grown again", data, H5T_NATIVE_INT, H5P_DEFAULT);
    write_all(data, H5T_NATIVE_INT);
    read_all("written again", data, H5T_NATIVE_INT, H5P_DEFAULT);
    CHECK(H5Fclose(file));
    done(data);
}

static void bitfields(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_STD_U16LE);
    CHECK(H5Tset_precision(type, 11));
    CHECK(H5Tset_offset(type, 3));
    hid_t data = create(file, "odd", type, gzip());
    write_all(data, H5T_NATIVE_INT);
    CHECK(H5Dclose(data));
    data = create(file, "bits", H5T_STD_B32LE, gzip());
    write_all(data, H5T_NATIVE_B32);
    CHECK(H5Dclose(data));
    CHECK(H5Fclose(file));
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    data = H5Dopen2(file, "odd", H5P_DEFAULT);
    read_all("odd", data, H5T_NATIVE_INT, H5P_DEFAULT);
    read_all("odd as stored", data, type, H5P_DEFAULT);
    CHECK(H5Dclose(data));
    data = H5Dopen2(file, "bits", H5P_DEFAULT);
    read_all("bits", data, H5T_NATIVE_B32, H5P_DEFAULT);
    CHECK(H5Dclose(data));
    CHECK(H5Fclose(file));
}

/* Floats in the order of the VAX, with padding that is 1, and with other places of the parts: libhdf5 converts
 * them by a path of its own. */
static void unusual_floats(const char *path)
{
    hid_t types[3];
    for (int i = 0; i < 3; i++)
        types[i] = H5Tcopy(H5T_IEEE_F32LE);
    CHECK(H5Tset_order(types[0], H5T_ORDER_VAX));
    CHECK(H5Tset_pad(types[1], H5T_PAD_ONE, H5T_PAD_ONE));
    CHECK(H5Tset_fields(types[2], 31, 0, 8, 8, 23));
    static unsigned bits[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        bits[i] = (i + 1) * 2654435761u;
    const char *names[3] = {"vax", "padded", "moved"};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 3; i++) {
        hid_t data = create(file, names[i], types[i], gzip());
        CHECK(H5Dwrite(data, types[i], H5S_ALL, H5S_ALL, H5P_DEFAULT, bits));
        CHECK(H5Dclose(data));
    }
    CHECK(H5Fclose(file));
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int i = 0; i < 3; i++) {
        hid_t data = H5Dopen2(file, names[i], H5P_DEFAULT);
        printf("%s\n", names[i]);
        read_all("as written", data, types[i], H5P_DEFAULT);
        read_all("float", data, H5T_NATIVE_FLOAT, H5P_DEFAULT);
        read_all("double", data, H5T_NATIVE_DOUBLE, H5P_DEFAULT);
        CHECK(H5Dclose(data));
    }
    CHECK(H5Fclose(file));
}

/* A close that fails leaves the file open, which then begins SWMR. */
static void close_that_fails(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    CHECK(H5Pset_fclose_degree(access, H5F_CLOSE_SEMI));
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), data = create(file, "d", H5T_STD_I32LE, gzip());
    write_all(data, H5T_NATIVE_INT);
    herr_t closed;
    H5E_BEGIN_TRY { closed = H5Fclose(file); } H5E_END_TRY
    printf("closed %d\n", closed);
    printf("SWMR %d\n", H5Fstart_swmr_write(file));
    write_rows(data, 5, 7);
    write_all(data, H5T_NATIVE_INT);
    CHECK(H5Dclose(data));
    printf("closed %d\n", H5Fclose(file));
    data = opened(path, H5F_ACC_RDONLY);
    read_all("again", data, H5T_NATIVE_INT, H5P_DEFAULT);
    done(data);
}

/* The library is closed while parts of chunks are held, and opened again. */
static void library_closed(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t data = opened(path, H5F_ACC_RDWR);
    write_rows(data, 35, 7);
    CHECK(H5close());
    data = opened(path, H5F_ACC_RDWR);
    read_all("opened again", data, H5T_NATIVE_INT, H5P_DEFAULT);
    write_rows(data, 70, 7);
    done(data);
    data = opened(path, H5F_ACC_RDONLY);
    read_all("closed", data, H5T_NATIVE_INT, H5P_DEFAULT);
    done(data);
}

/* A group stays open after its file, while parts of chunks of another file are held. */
static void group_stays_open(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t file = H5Fcreate("other.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t held = create(file, "d", H5T_STD_I32LE, gzip());
    hid_t closed = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t group = H5Gopen2(closed, "/", H5P_DEFAULT);
    CHECK(H5Fclose(closed));
    write_rows(held, 35, 7);
    printf("exists %d\n", H5Oexists_by_name(group, "d", H5P_DEFAULT));
    printf("copied %d\n", H5Ocopy(group, "d", file, "copy", H5P_DEFAULT, H5P_DEFAULT));
    printf("flushed %d\n", H5Gflush(group));
    hid_t data = H5Dopen2(group, "d", H5P_DEFAULT);
    read_all("of the group", data, H5T_NATIVE_INT, H5P_DEFAULT);
    CHECK(H5Dclose(data));
    CHECK(H5Gclose(group));
    read_all("held", held, H5T_NATIVE_INT, H5P_DEFAULT);
    CHECK(H5Dclose(held));
    CHECK(H5Fclose(file));
}

/* Calls that succeed leave no errors on the stack. */
static void no_errors_stay(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t whole = create(file, "whole", H5T_STD_I32LE, gzip()), parts = create(file, "parts", H5T_STD_I32LE, gzip());
    write_all(whole, H5T_NATIVE_INT);
    printf("errors %d\n", (int)H5Eget_num(H5E_DEFAULT));
    write_rows(parts, 25, 40);
    CHECK(H5Dflush(parts));
    printf("errors %d\n", (int)H5Eget_num(H5E_DEFAULT));
    CHECK(H5Dclose(whole));
    CHECK(H5Dclose(parts));
    CHECK(H5Fclose(file));
}

static void no_memory(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t data = opened(path, H5F_ACC_RDWR);
    herr_t written, got;
    H5E_BEGIN_TRY { written = H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, NULL); } H5E_END_TRY
    done(data);
    data = opened(path, H5F_ACC_RDONLY);
    H5E_BEGIN_TRY { got = H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, NULL); } H5E_END_TRY
    printf("written %d, read %d\n", written, got);
    read_all("as it was", data, H5T_NATIVE_INT, H5P_DEFAULT);
    done(data);
}

static int printed;

static herr_t print(void *context)
{
    (void)context;
    printed++;
    return 0;
}

/* A printer of errors that the program has set stays, also one of the first version of this function. */
static void printer(const char *path)
{
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Eset_auto1(print, NULL));
    for (int turn = 0; turn < 2; turn++) {
        H5E_auto1_t now = NULL;
        void *context;
        hid_t data = opened(path, turn ? H5F_ACC_RDONLY : H5F_ACC_RDWR);
        if (turn == 0)
            CHECK(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer, numbers));
        read_all("read", data, H5T_NATIVE_INT, transfer);
        done(data);
        herr_t got = H5Eget_auto1(&now, &context);
        printf("got %d, the same %d\n", got, now == print);
        printed = 0;
        hid_t absent = H5Fopen("absent.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
        printf("absent %d, printed %d\n", absent < 0, printed > 0);
    }
}

/* Calls that succeed print no error. */
static void silent_printer(const char *path)
{
    CHECK(H5Eset_auto1(print, NULL));
    prepare(path, H5T_STD_I32LE, gzip());
    hid_t data = opened(path, H5F_ACC_RDONLY);
    CHECK(H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5Pcreate(H5P_DATASET_XFER), others));
    done(data);
    printf("printed %d\n", printed);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*run)(const char *); } cases[] = {
        {"plain", plain}, {"transform_read", transform_read}, {"transform_write", transform_write},
        {"conversion_callback", conversion_callback}, {"registered_conversion", registered_conversion},
        {"checksums", checksums}, {"filter_callback", filter_callback}, {"edge_chunks", edge_chunks},
        {"undefined_fill", undefined_fill}, {"strided_memory", strided_memory}, {"multi", multi},
        {"block_of_memory", block_of_memory}, {"delayed", delayed}, {"chunk_cache", chunk_cache},
        {"resized", resized}, {"bitfields", bitfields}, {"library_closed", library_closed},
        {"unusual_floats", unusual_floats}, {"close_that_fails", close_that_fails},
        {"no_memory", no_memory}, {"printer", printer}, {"silent_printer", silent_printer},
        {"group_stays_open", group_stays_open}, {"no_errors_stay", no_errors_stay},
    };
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (i * 37) % 1000 - 400, others[i] = 5000 + i;
    for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run(argv[2]);
            return 0;
        }
    return 2;
}
