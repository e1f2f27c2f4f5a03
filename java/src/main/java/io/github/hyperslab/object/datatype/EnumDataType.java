package io.github.hyperslab.object.datatype;

import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.HdfTypeException;
import io.github.hyperslab.internal.Integers;

import java.nio.ByteBuffer;
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
        if (!(baseType instanceof FixedPoint base)
                || baseType.getSize() > Long.BYTES
                || baseType.getSize() < 1) {
            throw new HdfException(
                    "an enumeration whose base type is no integer of up to 8 bytes: " + baseType);
        }
        String[] names = new String[head.bits(0, 16)];
        for (int i = 0; i < names.length; i++) {
            names[i] = reader.name(head.version());
        }
        // As the elements are decoded, so that an element finds its name.
        Integers integers = Integers.of(base, long.class);
        for (String name : names) {
            members.put(integers.at(ByteBuffer.wrap(reader.raw(base.getSize())), 0), name);
        }
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
