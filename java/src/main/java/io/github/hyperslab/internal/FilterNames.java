package io.github.hyperslab.internal;

/** The names of registered filters, as the HDF Group's list has them. */
public final class FilterNames {
    private FilterNames() {}

    /**
     * Returns the name of a filter.
     *
     * @param id its registered number
     * @return the name, or an empty string if it is not known
     */
    public static String of(int id) {
        return switch (id) {
            case 1 -> "deflate";
            case 2 -> "shuffle";
            case 3 -> "fletcher32";
            case 4 -> "szip";
            case 5 -> "nbit";
            case 6 -> "scaleoffset";
            case 305 -> "lzo";
            case 307 -> "bzip2";
            case 32000 -> "lzf";
            case 32001 -> "blosc";
            case 32004 -> "lz4";
            case 32008 -> "bitshuffle";
            case 32013 -> "zfp";
            case 32015 -> "zstd";
            case 32026 -> "blosc2";
            default -> "";
        };
    }
}
