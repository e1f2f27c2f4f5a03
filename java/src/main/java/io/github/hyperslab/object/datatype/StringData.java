package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** Strings of a fixed number of bytes. */
public final class StringData extends DataType {
    private final PaddingType paddingType;
    private final Charset charset;

    /** What follows the text within the bytes of an element. */
    public enum PaddingType {
        /** A zero byte ends the text. */
        NULL_TERMINATED,
        /** Zero bytes follow the text. */
        NULL_PADDED,
        /** Spaces follow the text. */
        SPACE_PADDED;

        static PaddingType of(int number) {
            if (number >= values().length) {
                throw new HdfException("unknown padding of strings: " + number);
            }
            return values()[number];
        }
    }

    StringData(DatatypeReader.Head head) {
        super(head);
        paddingType = PaddingType.of(head.bits(0, 4));
        charset = charset(head.bits(4, 4));
    }

    static Charset charset(int number) {
        return switch (number) {
            case 0 -> StandardCharsets.US_ASCII;
            case 1 -> StandardCharsets.UTF_8;
            default -> throw new HdfException("unknown encoding of strings: " + number);
        };
    }

    /**
     * Returns what follows the text.
     *
     * @return the padding
     */
    public PaddingType getPaddingType() {
        return paddingType;
    }

    /**
     * Returns the encoding.
     *
     * @return US-ASCII or UTF-8
     */
    public Charset getCharset() {
        return charset;
    }

    @Override
    public Class<?> getJavaType() {
        return String.class;
    }
}
