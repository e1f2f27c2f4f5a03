/* Reads a dataset of float32 whole, and prints the seconds and the sum of the bits.
 *
 *     vol FILE NAME
 */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT), data = H5Dopen2(file, argv[2], H5P_DEFAULT);
    hssize_t count = H5Sget_simple_extent_npoints(H5Dget_space(data));
    uint32_t *out = malloc((size_t)count * sizeof *out);
    memset(out, 0xa5, (size_t)count * sizeof *out);
    double begin = now();
    if (H5Dread(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
        return 1;
    double seconds = now() - begin;
    uint64_t sum = 0;
    for (hssize_t i = 0; i < count; i++)
        sum += out[i];
    printf("%.9f %llu\n", seconds, (unsigned long long)sum);
    return 0;
}
