package io.github.hyperslab.internal;

import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.exceptions.HdfTypeException;
import io.github.hyperslab.exceptions.UnsupportedHdfException;
import io.github.hyperslab.object.datatype.BitField;
import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.datatype.EnumDataType;
import io.github.hyperslab.object.datatype.FixedPoint;
import io.github.hyperslab.object.datatype.FloatingPoint;
import io.github.hyperslab.object.datatype.OpaqueDataType;
import io.github.hyperslab.object.datatype.Reference;
import io.github.hyperslab.object.datatype.StringData;
import io.github.hyperslab.object.datatype.TimeDataType;
import io.github.hyperslab.object.datatype.VariableLength;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.util.Map;

/** Chooses the leaf of a datatype as it is stored. */
final class Leaves {
    private Leaves() {}

    static Leaf of(DataType type, NativeFile file) {
        if (type instanceof FixedPoint number) {
            return Integers.of(number, number.getJavaType());
        } else if (type instanceof FloatingPoint number) {
            return floats(number);
        } else if (type instanceof StringData text) {
            return new Texts(text);
        } else if (type instanceof BitField bits) {
            return bits.getSize() == 1 ? new Truths() : unsigned(bits);
        } else if (type instanceof EnumDataType names) {
            return new Names(names);
        } else if (type instanceof OpaqueDataType || type instanceof TimeDataType) {
            return new Raw(type.getSize());
        } else if (type instanceof Reference reference) {
            return references(reference);
        } else if (type instanceof VariableLength sequences) {
            return new Sequences(sequences, file, Sequences.MOST);
        }
        throw new UnsupportedHdfException("elements of " + type + " cannot be read into arrays");
    }

    private static Leaf unsigned(BitField type) {
        if (type.getSize() > Long.BYTES) {
            throw new HdfTypeException(
                    "bit fields of "
                            + type.getSize()
                            + " bytes: Java has no integer of more than 8");
        }
        return new Integers(
                type.getSize(),
                type.getByteOrder(),
                type.getBitOffset(),
                type.getBitPrecision(),
                false,
                type.getJavaType());
    }

    private static Leaf floats(FloatingPoint type) {
        if (!type.isIeee()) {
            throw new UnsupportedHdfException(
                    "floating point numbers of "
                            + type.getSize()
                            + " bytes in a compound, an array or a sequence");
        }
        return new Floats(type.getSize(), type.getByteOrder());
    }

    private static Leaf references(Reference type) {
        if (type.getType() != Reference.ReferenceType.OBJECT || type.getSize() > Long.BYTES) {
            throw new UnsupportedHdfException(
                    "references of the kind "
                            + type.getType()
                            + " cannot be read into arrays: only to objects");
        }
        // Addresses have no sign, which those of fewer than 8 bytes would show.
        return new Integers(
                type.getSize(), ByteOrder.LITTLE_ENDIAN, 0, 8 * type.getSize(), false, long.class);
    }

    /** Strings of a fixed length. */
    private record Texts(StringData type) implements Leaf {
        @Override
        public Class<?> component() {
            return String.class;
        }

        @Override
        public void fill(
                Object array, int from, int count, ByteBuffer bytes, int position, int pitch) {
            String[] texts = (String[]) array;
            byte[] raw = new byte[type.getSize()];
            Charset charset = type.getCharset();
            for (int i = 0; i < count; i++) {
                bytes.get(position + i * pitch, raw);
                texts[from + i] = new String(raw, 0, length(raw), charset);
            }
        }

        private int length(byte[] raw) {
            if (type.getPaddingType() == StringData.PaddingType.NULL_TERMINATED) {
                int end = 0;
                while (end < raw.length && raw[end] != 0) {
                    end++;
                }
                return end;
            }
            byte padding =
                    (byte) (type.getPaddingType() == StringData.PaddingType.SPACE_PADDED ? ' ' : 0);
            int end = raw.length;
            while (end > 0 && raw[end - 1] == padding) {
                end--;
            }
            return end;
        }
    }

    /** Bit fields of one byte. */
    private record Truths() implements Leaf {
        @Override
        public Class<?> component() {
            return boolean.class;
        }

        @Override
        public void fill(
                Object array, int from, int count, ByteBuffer bytes, int position, int pitch) {
            boolean[] truths = (boolean[]) array;
            for (int i = 0; i < count; i++) {
                byte bits = bytes.get(position + i * pitch);
                if (bits != 0 && bits != 1) {
                    throw new HdfTypeException(
                            "a bit field has the value "
                                    + (bits & 0xFF)
                                    + ", which is no truth value: read it with read(Selection, ByteBuffer)");
                }
                truths[from + i] = bits == 1;
            }
        }
    }

    /** Members of an enumeration. */
    private static final class Names implements Leaf {
        private final Map<Long, String> names;
        private final Integers integers;

        Names(EnumDataType type) {
            names = type.getMembers();
            integers = Integers.of((FixedPoint) type.getBaseType(), long.class);
        }

        @Override
        public Class<?> component() {
            return String.class;
        }

        @Override
        public void fill(
                Object array, int from, int count, ByteBuffer bytes, int position, int pitch) {
            String[] found = (String[]) array;
            for (int i = 0; i < count; i++) {
                found[from + i] = names.get(integers.at(bytes, position + i * pitch));
            }
        }
    }

    /** Elements that are bytes. */
    private record Raw(int size) implements Leaf {
        @Override
        public Class<?> component() {
            return byte[].class;
        }

        @Override
        public void fill(
                Object array, int from, int count, ByteBuffer bytes, int position, int pitch) {
            byte[][] elements = (byte[][]) array;
            for (int i = 0; i < count; i++) {
                elements[from + i] = new byte[size];
                bytes.get(position + i * pitch, elements[from + i]);
            }
        }
    }

    /**
     * Strings and sequences of variable length.
     *
     * @param most the bytes of data that the native library hands out at a time
     */
    record Sequences(VariableLength type, NativeFile file, long most) implements Leaf {
        /** A part of a read has millions of ids, and the data of all may exceed 2 GiB. */
        static final long MOST = 256 << 20;

        @Override
        public Class<?> component() {
            return type.getJavaType();
        }

        @Override
        public void fill(
                Object array, int from, int count, ByteBuffer bytes, int position, int pitch) {
            if (count == 0) {
                return;
            }
            int idSize = type.getSize();
            int size = Math.multiplyExact(count, idSize);
            int elementSize = type.isVariableLengthString() ? 0 : type.getParent().getSize();
            if (idSize < Integer.BYTES) {
                throw new HdfException(
                        "ids of " + idSize + " bytes, which have no room for a length");
            }
            try (Scratch scratch = Scratch.of(size)) {
                ByteBuffer ids = scratch.memory().order(ByteOrder.LITTLE_ENDIAN);
                for (int i = 0; i < count; i++) {
                    ids.put(i * idSize, bytes, position + i * pitch, idSize);
                }
                for (int done = 0; done < count; ) {
                    int batch = batch(ids, idSize, done, count, Math.max(elementSize, 1), most);
                    ByteBuffer part = ids.slice(done * idSize, batch * idSize);
                    try (Items items =
                            Objects.resolve(file, part, batch * idSize, idSize, elementSize)) {
                        for (int i = 0; i < batch; i++) {
                            Array.set(array, from + done + i, element(items, i));
                        }
                    }
                    done += batch;
                }
            }
        }

        /**
         * Returns how many elements from one on, at least one, have not more data than allowed. An
         * id begins with the number of its elements.
         */
        static int batch(
                ByteBuffer ids, int idSize, int from, int end, int elementSize, long most) {
            long sum = 0;
            for (int i = from; i < end; i++) {
                sum += (ids.getInt(i * idSize) & 0xFFFF_FFFFL) * elementSize;
                if (sum > most) {
                    return Math.max(1, i - from);
                }
            }
            return end - from;
        }

        private Object element(Items items, int index) {
            if (type.isVariableLengthString()) {
                return items.text(index, type.getEncoding());
            }
            int size = type.getParent().getSize();
            Target target =
                    Target.of(
                            type.getParent(),
                            new int[] {items.length(index) / size},
                            new long[] {size},
                            file);
            target.fillAll(items.length(index) / size, items.bytes(), items.position(index));
            return target.result();
        }
    }
}
