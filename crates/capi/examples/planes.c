/* Writes a year of monthly temperatures, and reads one latitude of all months. */
#include <hyperslab.h>
#include <stdio.h>

enum { MONTHS = 12, LATS = 73, LONS = 144 };

static int failed(void) {
    fprintf(stderr, "%s\n", hs_error());
    return 1;
}

static int write_year(const char *path) {
    static float month[LATS][LONS];
    const uint64_t shape[3] = {MONTHS, LATS, LONS}, chunk[3] = {1, LATS, LONS};
    const uint32_t level = 4;
    const hs_filter filters[2] = {{.id = 2}, {.id = 1, .value_count = 1, .values = &level}}; /* shuffle, gzip */
    hs_dataset_options options = {.size = sizeof options, .type = HS_F32, .rank = 3, .shape = shape};
    options.chunk = chunk;
    options.filters = filters;
    options.filter_count = 2;

    hs_file *file;
    hs_dataset *t2m;
    if (hs_open(path, HS_CREATE, &file) || hs_dataset_create(file, "/surface/t2m", &options, &t2m)) return failed();
    for (uint64_t t = 0; t < MONTHS; t++) {
        for (int y = 0; y < LATS; y++) {
            for (int x = 0; x < LONS; x++) month[y][x] = 270.0f + (float)t + 0.1f * (float)y;
        }
        const uint64_t start[3] = {t, 0, 0}, count[3] = {1, LATS, LONS};
        hs_selection one = {.size = sizeof one, .rank = 3, .start = start, .count = count};
        if (hs_write(t2m, &one, HS_F32, month, NULL)) return failed();
    }
    const void *units = "K";
    if (hs_attribute_write_items(file, "/surface/t2m", "units", HS_STRING, 0, NULL, &units, NULL, 1)) return failed();
    return hs_dataset_close(t2m) || hs_close(file) ? failed() : 0;
}

int main(void) {
    if (write_year("climate.h5")) return 1;

    hs_file *file;
    hs_dataset *t2m;
    static double plane[MONTHS][LONS]; /* stored as float: converted while it is read */
    const uint64_t start[3] = {0, 36, 0}, count[3] = {MONTHS, 1, LONS};
    hs_selection latitude = {.size = sizeof latitude, .rank = 3, .start = start, .count = count};
    hs_io_options checked = {.size = sizeof checked, .buffer_size = sizeof plane};
    if (hs_open("climate.h5", HS_READ, &file) || hs_dataset_open(file, "/surface/t2m", &t2m)) return failed();
    if (hs_read(t2m, &latitude, HS_F64, plane, &checked)) return failed();

    hs_items units;
    if (hs_attribute_read_items(file, "/surface/t2m", "units", HS_STRING, &units)) return failed();
    double sum = 0;
    for (int t = 0; t < MONTHS; t++) {
        for (int x = 0; x < LONS; x++) sum += plane[t][x];
    }
    printf("mean of the plane: %.2f %s\n", sum / (MONTHS * LONS), (const char *)units.bytes);
    return hs_free(&units) || hs_dataset_close(t2m) || hs_close(file) ? failed() : 0;
}
