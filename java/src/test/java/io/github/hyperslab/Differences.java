package io.github.hyperslab;

import java.util.List;
import java.util.Map;

/** Where this library gives another value than jHDF 0.13 on purpose, with h5py as the judge. */
final class Differences {
    static final String FILL =
            "jHDF has zeros for chunks that were never written, not the fill value";
    static final String EMPTY = "jHDF takes a dataset without any stored byte for empty";
    static final String NUMBERING =
            "jHDF numbers chunks by the dimensions, not by the largest dimensions";
    static final String NULL = "jHDF takes a null dataspace for a scalar";
    static final String BFLOAT = "jHDF reads all floats of two bytes as half precision";
    static final String BITS = "jHDF has one truth value for bit fields of any value and size";

    /** The datasets, by file and reason. */
    private static final Map<String, List<String>> DATASETS =
            Map.of(
                    FILL,
                    List.of(
                            "btree1.h5:/sparse",
                            "btree2_v110.h5:/sparse",
                            "fill_earliest.h5:/alloc_incr",
                            "fill_earliest.h5:/ifset_incr",
                            "resized_earliest.h5:/fixed",
                            "resized_earliest.h5:/fixed_gzip",
                            "resized_earliest.h5:/free",
                            "resized_earliest.h5:/free_gzip",
                            "resized_earliest.h5:/unlimited",
                            "resized_earliest.h5:/unlimited_gzip"),
                    EMPTY,
                    List.of(
                            "empty_earliest.h5:/never_chunked",
                            "empty_earliest.h5:/never_contiguous",
                            "empty_earliest.h5:/never_contiguous_fill",
                            "fill_earliest.h5:/compound",
                            "fill_earliest.h5:/float_be",
                            "fill_earliest.h5:/string",
                            "netcdf4.nc:/no_variable",
                            "single_v110.h5:/never",
                            "single_v110.h5:/never_gzip"),
                    NUMBERING,
                    List.of(
                            "extensible_array_v110.h5:/middle_axis",
                            "extensible_array_v110.h5:/second_axis",
                            "implicit_latest.h5:/below_maximum",
                            "implicit_v110.h5:/below_maximum"),
                    NULL,
                    List.of("empty_earliest.h5:/null"),
                    BFLOAT,
                    List.of("odd_numbers_earliest.h5:/bfloat16", "odd_numbers_latest.h5:/bfloat16"),
                    BITS,
                    List.of(
                            "odd_numbers_earliest.h5:/bits8",
                            "odd_numbers_earliest.h5:/bits16_be",
                            "odd_numbers_earliest.h5:/bits32",
                            "odd_numbers_earliest.h5:/bits64",
                            "odd_numbers_latest.h5:/bits8",
                            "odd_numbers_latest.h5:/bits16_be",
                            "odd_numbers_latest.h5:/bits32",
                            "odd_numbers_latest.h5:/bits64"));

    private Differences() {}

    /** Returns the datasets of a reason. */
    static List<String> of(String reason) {
        return DATASETS.get(reason);
    }

    /** Returns why a value of a dataset differs, or {@code null} if nothing explains it. */
    static String reason(String at) {
        String dataset = at.split("[ \\[]", 2)[0];
        for (Map.Entry<String, List<String>> entry : DATASETS.entrySet()) {
            if (entry.getValue().contains(dataset)) {
                return entry.getKey();
            }
        }
        return null;
    }
}
