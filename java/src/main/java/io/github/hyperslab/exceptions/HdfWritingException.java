package io.github.hyperslab.exceptions;

/** A change that cannot be made to a file. */
public class HdfWritingException extends HdfException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what went wrong
     */
    public HdfWritingException(String message) {
        super(message);
    }

    /**
     * Creates the exception with a cause.
     *
     * @param message what went wrong
     * @param cause the failure that led to this one
     */
    public HdfWritingException(String message, Throwable cause) {
        super(message, cause);
    }
}
