package io.github.hyperslab.exceptions;

/** A chunk that a filter cannot decode or encode. */
public class HdfFilterException extends HdfException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what went wrong
     */
    public HdfFilterException(String message) {
        super(message);
    }
}
