package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Elements with members. */
public final class CompoundDataType extends DataType {
    private final List<CompoundDataMember> members;

    CompoundDataType(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        List<CompoundDataMember> found = new ArrayList<>();
        for (int i = head.bits(0, 16); i > 0; i--) {
            String name = reader.name(head.version());
            int offset = reader.positive(head.version() < 3 ? 4 : bytesOf(head.size()));
            int rank = head.version() == 1 ? reader.unsigned(1) : 0;
            int[] dimensions = new int[Math.min(rank, 4)];
            if (head.version() == 1) {
                // Reserved bytes, a permutation that was never used, and room for four dimensions.
                reader.skip(11);
                for (int j = 0; j < 4; j++) {
                    int length = reader.positive(4);
                    if (j < dimensions.length) {
                        dimensions[j] = length;
                    }
                }
            }
            DataType base = reader.type();
            DataType type =
                    dimensions.length == 0 ? base : new ArrayDataType(head, dimensions, base);
            if ((long) offset + type.getSize() > head.size()) {
                throw new HdfException(
                        "the member '"
                                + name
                                + "' is not within its compound of "
                                + head.size()
                                + " bytes");
            }
            found.add(new CompoundDataMember(name, offset, type));
        }
        members = List.copyOf(found);
    }

    private static int bytesOf(int size) {
        return (Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(size, 1)) + 7) / 8;
    }

    /**
     * Returns the members.
     *
     * @return the members in the order of the file
     */
    public List<CompoundDataMember> getMembers() {
        return members;
    }

    @Override
    public Class<?> getJavaType() {
        return Map.class;
    }

    /** A member of a compound. */
    public static final class CompoundDataMember {
        private final String name;
        private final int offset;
        private final DataType dataType;

        CompoundDataMember(String name, int offset, DataType dataType) {
            this.name = name;
            this.offset = offset;
            this.dataType = dataType;
        }

        /**
         * Returns the name.
         *
         * @return the name
         */
        public String getName() {
            return name;
        }

        /**
         * Returns where the member begins in an element.
         *
         * @return the offset in bytes
         */
        public int getOffset() {
            return offset;
        }

        /**
         * Returns the datatype.
         *
         * @return the datatype
         */
        public DataType getDataType() {
            return dataType;
        }
    }
}
