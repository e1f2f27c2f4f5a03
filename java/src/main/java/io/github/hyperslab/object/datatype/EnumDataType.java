package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.HdfTypeException;

import java.nio.ByteOrder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Integers with names. An element is its name, or {@code null} for an integer without one. */
public final class EnumDataType extends DataType {
    private final DataType baseType;
    private final Map<Long, String> members = new LinkedHashMap<>();

    EnumDataType(DatatypeReader.Head head, DatatypeReader reader) {
        super(head);
        baseType = reader.type();
        if (!(baseType instanceof FixedPoint integers)
                || baseType.getSize() > Long.BYTES
                || baseType.getSize() < 1) {
            throw new HdfException(
                    "an enumeration whose base type is no integer of up to 8 bytes: " + baseType);
        }
        String[] names = new String[head.bits(0, 16)];
        for (int i = 0; i < names.length; i++) {
            names[i] = reader.name(head.version());
        }
        for (String name : names) {
            members.put(value(reader.raw(baseType.getSize()), integers), name);
        }
    }

    private static long value(byte[] raw, FixedPoint type) {
        long value = 0;
        for (int i = 0; i < raw.length; i++) {
            int at = type.getByteOrder() == ByteOrder.LITTLE_ENDIAN ? raw.length - 1 - i : i;
            value = value << 8 | raw[at] & 0xFF;
        }
        int above = Long.SIZE - 8 * raw.length;
        return type.isSigned() ? value << above >> above : value;
    }

    /**
     * Returns the datatype of the integers.
     *
     * @return the datatype, a {@link FixedPoint}
     */
    public DataType getBaseType() {
        return baseType;
    }

    /**
     * Returns the names by their integers.
     *
     * @return the names; unsigned integers of 8 bytes above {@link Long#MAX_VALUE} are negative
     */
    public Map<Long, String> getMembers() {
        return Collections.unmodifiableMap(members);
    }

    /**
     * Returns the names by their integers.
     *
     * @return the names
     * @throws HdfTypeException if an integer does not fit {@code int}; see {@link #getMembers()}
     */
    public Map<Integer, String> getEnumMapping() {
        Map<Integer, String> mapping = new LinkedHashMap<>();
        members.forEach(
                (value, name) -> {
                    if (value.intValue() != value) {
                        throw new HdfTypeException(
                                "the member '" + name + "' is " + value + ": use getMembers()");
                    }
                    mapping.put(value.intValue(), name);
                });
        return mapping;
    }

    @Override
    public Class<?> getJavaType() {
        return String.class;
    }
}
