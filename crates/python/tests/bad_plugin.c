/* A filter plug-in that does what its first parameter says. Its good form stores the complement of each byte. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int64_t hid_t;
typedef unsigned long long hsize_t;
extern hid_t H5E_PLINE_g, H5E_CANTFILTER_g, H5E_ERR_CLS_g;
int H5Epush2(hid_t, const char *, const char *, unsigned, hid_t, hid_t, hid_t, const char *, ...);
int H5Pget_filter_by_id2(hid_t, int, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *);
int H5Pmodify_filter(hid_t, int, unsigned, size_t, const unsigned *);
int H5Sget_simple_extent_dims(hid_t, hsize_t *, hsize_t *);
int H5Tget_class(hid_t);
int H5Tget_order(hid_t);
int H5Tget_sign(hid_t);
size_t H5Tget_size(hid_t);
hid_t H5Tget_super(hid_t);
int H5Tclose(hid_t);
hid_t H5Dopen2(hid_t, const char *, hid_t);
void *H5allocate_memory(size_t, bool);

enum { NUMBER = 400, REVERSE = 0x100 };
enum { GOOD, FAILS, OVERRUNS, OVERRUNS_NEW, OVERRUNS_FREED, LIES, SHORT, LONG, NO_MEMORY, SLOW, MISSING, THREADS };
static volatile int running;

/* Frees memory of another thread, and gets the same place again for more bytes. */
static void *replace(void *memory)
{
    free(memory);
    memory = malloc(104);
    memset(memory, 1, 104);
    return memory;
}

static size_t filter(unsigned flags, size_t count, const unsigned *values, size_t len, size_t *room, void **memory)
{
    unsigned what = (flags & REVERSE) && count > 0 ? values[0] : GOOD;
    unsigned char *bytes = *memory, *other;
    if (what == MISSING && H5Dopen2(0, "", 0) < 0)
        return 0;
    if (what == FAILS) {
        H5Epush2(0, __FILE__, "filter", __LINE__, H5E_ERR_CLS_g, H5E_PLINE_g, H5E_CANTFILTER_g, "no luck today");
        return 0;
    }
    if (__sync_lock_test_and_set(&running, 1))
        return 0; /* called by two threads */
    if (what == THREADS) {
        pthread_t thread;
        void *before = malloc(100), *after;
        pthread_create(&thread, NULL, replace, before);
        pthread_join(thread, &after);
        if (after != before)
            return running = 0; /* another allocator: this shows nothing */
        free(after);
    }
    if (what == SLOW)
        usleep(2000);
    for (size_t i = 0; i < len; i++)
        bytes[i] = ~bytes[i];
    running = 0;
    if (what == OVERRUNS)
        memset(bytes + len, 1, 9);
    if (what == OVERRUNS_NEW || what == OVERRUNS_FREED || what == LONG || what == GOOD) {
        size_t n = what == LONG ? 3 * len : len;
        other = H5allocate_memory(n, true);
        memcpy(other, bytes, len);
        if (what == OVERRUNS_NEW)
            other[n] = 1;
        if (what == OVERRUNS_FREED)
            bytes[len] = 1;
        free(bytes);
        *memory = other;
        *room = n;
        return n;
    }
    if (what == NO_MEMORY) {
        free(bytes);
        *memory = NULL;
        return len;
    }
    return what == LIES ? len + 200 : what == SHORT ? len / 2 : len;
}

static int can_apply(hid_t list, hid_t type, hid_t space)
{
    (void)list, (void)space;
    return H5Tget_class(type) != 5; /* opaque */
}

/* Adds what it is told of the datatype and of the chunk to the parameters. */
static int set_local(hid_t list, hid_t type, hid_t space)
{
    unsigned flags, config, values[40];
    size_t count = 8;
    char name[9];
    hsize_t dims[32];
    if (H5Pget_filter_by_id2(list, NUMBER, &flags, &count, values, sizeof name, name, &config) < 0)
        return -1;
    if (count > 1)
        return 0; /* from another dataset */
    if (count > 0 && values[0] == 99)
        return -1;
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    if (count == 0)
        values[0] = GOOD;
    hid_t base = H5Tget_class(type) == 10 || H5Tget_class(type) == 8 ? H5Tget_super(type) : type;
    count = 1;
    values[count++] = H5Tget_class(type);
    values[count++] = H5Tget_size(type);
    values[count++] = H5Tget_class(base);
    values[count++] = H5Tget_size(base);
    if (H5Tget_class(base) < 2)
        values[count++] = H5Tget_order(base);
    if (H5Tget_class(base) == 0)
        values[count++] = H5Tget_sign(base);
    for (int i = 0; i < rank; i++)
        values[count++] = dims[i];
    if (base != type)
        H5Tclose(base);
    return H5Pmodify_filter(list, NUMBER, flags, count, values);
}

typedef struct {
    int version, id;
    unsigned encodes, decodes;
    const char *name;
    int (*can_apply)(hid_t, hid_t, hid_t);
    int (*set_local)(hid_t, hid_t, hid_t);
    size_t (*filter)(unsigned, size_t, const unsigned *, size_t, size_t *, void **);
} Class;

#ifndef VERSION
#define VERSION 1
#endif
#ifndef NAME
#define NAME "complement of bytes"
#endif
#ifndef KIND
#define KIND 0
#endif
static const Class class = {VERSION, NUMBER, 1, 1, NAME, can_apply, set_local, filter};

int H5PLget_plugin_type(void)
{
    return KIND;
}

const void *H5PLget_plugin_info(void)
{
    return &class;
}
