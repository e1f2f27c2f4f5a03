package io.github.hyperslab.exceptions;

/** Any failure to read or write an HDF5 file. The message says what to do. */
public class HdfException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what went wrong
     */
    public HdfException(String message) {
        super(message);
    }

    /**
     * Creates the exception with a cause.
     *
     * @param message what went wrong
     * @param cause the failure that led to this one
     */
    public HdfException(String message, Throwable cause) {
        super(message, cause);
    }
}
