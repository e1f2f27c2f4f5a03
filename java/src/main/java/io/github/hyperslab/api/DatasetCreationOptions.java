package io.github.hyperslab.api;

import io.github.hyperslab.filter.PipelineFilterWithData;
import io.github.hyperslab.internal.FilterNames;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How a new dataset is stored. */
public final class DatasetCreationOptions {
    /** Contiguous, without filters. */
    public static final DatasetCreationOptions DEFAULT = builder().build();

    private final int[] chunkDimensions;
    private final long[] maxDimensions;
    private final List<PipelineFilterWithData> filters;
    private final boolean unsigned;

    private DatasetCreationOptions(Builder builder) {
        chunkDimensions = builder.chunkDimensions;
        maxDimensions = builder.maxDimensions;
        filters = List.copyOf(builder.filters);
        unsigned = builder.unsigned;
    }

    /**
     * Begins with the default options.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Tells whether the dataset is in chunks.
     *
     * @return {@code true} if chunks, filters or larger dimensions were asked for
     */
    public boolean isChunked() {
        return chunkDimensions != null || maxDimensions != null || !filters.isEmpty();
    }

    /**
     * Tells whether integers are unsigned.
     *
     * @return {@code true} for unsigned integers
     */
    public boolean isUnsigned() {
        return unsigned;
    }

    /**
     * Returns the shape of a chunk.
     *
     * @return the number of elements in each dimension, or {@code null} if it is chosen by the
     *     library
     */
    public int[] getChunkDimensions() {
        return chunkDimensions == null ? null : chunkDimensions.clone();
    }

    /**
     * Returns the dimensions that the dataset may grow to.
     *
     * @return the largest dimensions, -1 for one without a limit, or {@code null} if they are fixed
     */
    public long[] getMaxDimensions() {
        return maxDimensions == null ? null : maxDimensions.clone();
    }

    /**
     * Returns the filters.
     *
     * @return the filters in the order in which they are applied
     */
    public List<PipelineFilterWithData> getFilters() {
        return filters;
    }

    /**
     * Returns the shape of a chunk for the native library.
     *
     * @return the number of elements in each dimension, or {@code null}
     */
    public long[] chunk() {
        return chunkDimensions == null
                ? null
                : Arrays.stream(chunkDimensions).asLongStream().toArray();
    }

    /** Collects options. */
    public static final class Builder {
        private static final int MOST_FILTER = 65_535;

        private final List<PipelineFilterWithData> filters = new ArrayList<>();
        private int[] chunkDimensions;
        private long[] maxDimensions;
        private boolean unsigned;

        private Builder() {}

        /**
         * Makes integers unsigned.
         *
         * @return this builder
         */
        public Builder unsigned() {
            unsigned = true;
            return this;
        }

        /**
         * Sets the shape of a chunk. Without it the library chooses one where chunks are needed.
         *
         * @param chunkDimensions the number of elements in each dimension
         * @return this builder
         */
        public Builder chunkDimensions(int... chunkDimensions) {
            for (int length : chunkDimensions) {
                if (length < 1) {
                    throw new IllegalArgumentException(
                            "a chunk must have at least one element in each dimension, not "
                                    + Arrays.toString(chunkDimensions));
                }
            }
            this.chunkDimensions = chunkDimensions.clone();
            return this;
        }

        /**
         * Sets the dimensions that the dataset may grow to.
         *
         * @param maxDimensions the largest dimensions, -1 for one without a limit
         * @return this builder
         */
        public Builder maxDimensions(long... maxDimensions) {
            this.maxDimensions = maxDimensions.clone();
            return this;
        }

        /**
         * Adds the filter shuffle, which makes a compression after it more effective.
         *
         * @return this builder
         */
        public Builder shuffle() {
            return filter(2);
        }

        /**
         * Adds the compression deflate (gzip) at level 6.
         *
         * @return this builder
         */
        public Builder deflate() {
            return deflate(6);
        }

        /**
         * Adds the compression deflate (gzip).
         *
         * @param level from 0 to 9
         * @return this builder
         */
        public Builder deflate(int level) {
            if (level < 0 || level > 9) {
                throw new IllegalArgumentException(
                        "the level of deflate must be from 0 to 9, not " + level);
            }
            return filter(1, level);
        }

        /**
         * Adds any filter that the library has, such as 32015 for Zstandard, 32001 for Blosc or
         * 32026 for Blosc2.
         *
         * @param id the registered number
         * @param filterData the parameters, as the filter's description has them
         * @return this builder
         */
        public Builder filter(int id, int... filterData) {
            if (id < 1 || id > MOST_FILTER) {
                throw new IllegalArgumentException(
                        "the number of a filter must be from 1 to " + MOST_FILTER + ", not " + id);
            }
            filters.add(new PipelineFilterWithData(id, FilterNames.of(id), filterData));
            return this;
        }

        /**
         * Returns the options.
         *
         * @return the options
         */
        public DatasetCreationOptions build() {
            return new DatasetCreationOptions(this);
        }
    }
}
