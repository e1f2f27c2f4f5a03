package io.github.hyperslab.object.datatype;

/**
 * References to objects, or to regions of datasets. An object reference is the address of the
 * object; see {@link io.github.hyperslab.HdfFile#getNodeByAddress(long)}.
 */
public final class Reference extends DataType {
    private final ReferenceType type;

    /** What references refer to. */
    public enum ReferenceType {
        /** An object of the file. */
        OBJECT,
        /** A region of a dataset. */
        REGION,
        /** What HDF5 1.12 and later write: an object, a region or an attribute. */
        STANDARD
    }

    Reference(DatatypeReader.Head head) {
        super(head);
        type =
                switch (head.bits(0, 4)) {
                    case 0 -> ReferenceType.OBJECT;
                    case 1 -> ReferenceType.REGION;
                    default -> ReferenceType.STANDARD;
                };
    }

    /**
     * Returns what the references refer to.
     *
     * @return the kind
     */
    public ReferenceType getType() {
        return type;
    }

    /** {@inheritDoc} Only object references can be read into arrays. */
    @Override
    public Class<?> getJavaType() {
        return long.class;
    }
}
