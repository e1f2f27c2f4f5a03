package io.github.hyperslab.filter;

import java.util.Arrays;

/** A filter of a dataset, with its parameters. */
public final class PipelineFilterWithData {
    private final int id;
    private final String name;
    private final int[] filterData;

    /**
     * Creates the description of a filter.
     *
     * @param id the registered number of the filter
     * @param name the name of the filter, or an empty string
     * @param filterData the parameters, as the file has them
     */
    public PipelineFilterWithData(int id, String name, int[] filterData) {
        this.id = id;
        this.name = name;
        this.filterData = filterData.clone();
    }

    /**
     * Returns the name of the filter.
     *
     * @return the name, or an empty string for a filter whose name is not known
     */
    public String getName() {
        return name;
    }

    /**
     * Returns the registered number of the filter.
     *
     * @return the number, such as 1 for deflate
     */
    public int getId() {
        return id;
    }

    /**
     * Returns the parameters of the filter.
     *
     * @return a copy of the parameters
     */
    public int[] getFilterData() {
        return filterData.clone();
    }

    @Override
    public String toString() {
        return name + " (id=" + id + ") data=" + Arrays.toString(filterData);
    }
}
