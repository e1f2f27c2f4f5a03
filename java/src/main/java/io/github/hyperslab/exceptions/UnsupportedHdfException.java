package io.github.hyperslab.exceptions;

/** A part of the HDF5 format that is not supported. */
public class UnsupportedHdfException extends HdfException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what went wrong
     */
    public UnsupportedHdfException(String message) {
        super(message);
    }
}
