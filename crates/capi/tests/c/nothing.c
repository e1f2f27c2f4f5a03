/* A dataset "d" without elements (a null dataspace), in the file that the command line names: whatever is selected of it,
 * nothing is read or written. */
#include "check.h"

int main(int argc, char **argv) {
    CHECK(argc == 2);
    hs_file *file;
    hs_dataset *dataset;
    hs_array_info info = {.size = sizeof info};
    hs_selection scalar = {.size = sizeof scalar};
    float untouched = 7;
    OK(hs_open(argv[1], HS_WRITE, &file));
    OK(hs_dataset_open(file, "d", &dataset));
    OK(hs_dataset_info(dataset, &info));
    CHECK(info.space == HS_SPACE_NULL && info.elements == 0);
    OK(hs_read(dataset, NULL, HS_F32, &untouched, NULL));
    OK(hs_read(dataset, &scalar, HS_F32, &untouched, NULL));
    OK(hs_write(dataset, &scalar, HS_F32, NULL, NULL));
    CHECK(untouched == 7);
    OK(hs_dataset_close(dataset));
    OK(hs_close(file));
    return 0;
}
