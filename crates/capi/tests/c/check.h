/* What the programs of the tests have in common. A check that fails ends the program with 1. */
#ifndef CHECK_H
#define CHECK_H

#include <hyperslab.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                          \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, hs_error());          \
            exit(1);                                                                                              \
        }                                                                                                         \
    } while (0)

#define OK(call) CHECK((call) == HS_OK)

/* The call fails with this code, and the message has this text. */
#define FAILS(code, text, call)                                                                                   \
    do {                                                                                                          \
        int32_t found = (call);                                                                                   \
        if (found != (code) || strstr(hs_error(), (text)) == NULL) {                                              \
            fprintf(stderr, "%s:%d: %s: code %d, message %s\n", __FILE__, __LINE__, #call, found, hs_error());    \
            exit(1);                                                                                              \
        }                                                                                                         \
    } while (0)

static inline const char *text_of(const hs_items *items, size_t index) {
    return (const char *)items->bytes + items->offsets[index];
}

static inline const char *path_in(const char *folder, const char *name) {
    static char paths[8][1024];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, 1024, "%s/%s", folder, name);
    return path;
}

#endif
