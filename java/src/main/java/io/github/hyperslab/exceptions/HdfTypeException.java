package io.github.hyperslab.exceptions;

/** Elements of a datatype that Java arrays cannot hold, or that does not fit the request. */
public class HdfTypeException extends HdfException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what went wrong
     */
    public HdfTypeException(String message) {
        super(message);
    }
}
