package io.github.hyperslab.exceptions;

/** A soft or external link whose target cannot be found. */
public class HdfBrokenLinkException extends HdfException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception with a cause.
     *
     * @param message what went wrong
     * @param cause the failure that led to this one
     */
    public HdfBrokenLinkException(String message, Throwable cause) {
        super(message, cause);
    }
}
