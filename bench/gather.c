/* Copies planes out of a mapped file: the limit of `planes`, compiled by `limits.py`. */

#include <stddef.h>
#include <string.h>

/* The part of a plane that is in one chunk: `rows` times `columns` floats. Steps count floats. */
typedef struct {
    const float *from;
    float *to;
    size_t rows, columns, from_row, from_column, to_row;
} Tile;

void gather(const Tile *tiles, size_t count)
{
    for (const Tile *tile = tiles; tile < tiles + count; tile++) {
        for (size_t row = 0; row < tile->rows; row++) {
            const float *from = tile->from + row * tile->from_row;
            float *to = tile->to + row * tile->to_row;
            if (tile->from_column == 1) {
                memcpy(to, from, tile->columns * sizeof *to);
                continue;
            }
            for (size_t column = 0; column < tile->columns; column++)
                to[column] = from[column * tile->from_column];
        }
    }
}
