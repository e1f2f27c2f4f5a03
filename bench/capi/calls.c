/* Reads boxes of a dataset, a call each. For each line "PATH DATASET SIDE CALLS" of its input it prints the nanoseconds of
 * the calls and the sum of all elements; crates/capi/examples/calls.rs does the same in Rust. */
#define _POSIX_C_SOURCE 200809L
#include <hyperslab.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int32_t code) {
    if (code != HS_OK) {
        fprintf(stderr, "%s\n", hs_error());
        exit(1);
    }
}

/* The next coordinate from 200 on, so that a box of up to 20 is inside one chunk of 100. */
static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return 200 + (*state >> 33) % 80;
}

int main(void) {
    char path[4096], name[64];
    unsigned long side, calls;
    while (scanf("%4095s %63s %lu %lu", path, name, &side, &calls) == 4) {
        hs_file *file;
        hs_dataset *dataset;
        check(hs_open(path, HS_READ, &file));
        check(hs_dataset_open(file, name, &dataset));
        static double values[20 * 20];
        uint64_t start[2], count[2] = {side, side}, state = 5;
        hs_selection box = {.size = sizeof box, .rank = 2, .start = start, .count = count};
        double sum = 0;
        struct timespec began, ended;
        clock_gettime(CLOCK_MONOTONIC, &began);
        for (unsigned long call = 0; call < calls; call++) {
            start[0] = next(&state);
            start[1] = next(&state);
            check(hs_read(dataset, &box, HS_STORED, values, NULL));
            for (unsigned long i = 0; i < side * side; i++) sum += values[i];
        }
        clock_gettime(CLOCK_MONOTONIC, &ended);
        const long long nanoseconds = (ended.tv_sec - began.tv_sec) * 1000000000LL + (ended.tv_nsec - began.tv_nsec);
        printf("%lld %.1f\n", nanoseconds, sum);
        fflush(stdout);
        check(hs_dataset_close(dataset));
        check(hs_close(file));
    }
    return 0;
}
