package io.github.hyperslab.exceptions;

/** A request that needs a file on disk, for a file in memory. */
public class InMemoryHdfException extends HdfException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception. */
    public InMemoryHdfException() {
        super("this HDF5 file is in memory and has no path");
    }
}
