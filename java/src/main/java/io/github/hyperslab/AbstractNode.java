package io.github.hyperslab;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.api.NodeType;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.internal.ArrayInfo;
import io.github.hyperslab.internal.NativeFile;
import io.github.hyperslab.internal.Objects;
import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.datatype.OrderedDataType;

import java.nio.ByteOrder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** An object of a file, at its path. */
abstract class AbstractNode implements Node {
    private final HdfFile file;
    private final Group parent;
    private final String name;

    /** Without a slash at the end. */
    private final String location;

    private final long address;

    AbstractNode(HdfFile file, Group parent, String name, String location, long address) {
        this.file = file;
        this.parent = parent;
        this.name = name;
        this.location = location;
        this.address = address;
    }

    /** Returns the path for the native library. */
    final String location() {
        return location;
    }

    final NativeFile nativeFile() {
        return file.nativeFile();
    }

    final Objects.Facts facts() {
        Objects.Facts facts = Objects.facts(nativeFile(), location);
        if (facts == null) {
            throw new HdfException("'" + location + "' has no object any more");
        }
        return facts;
    }

    @Override
    public boolean isAttributeCreationOrderTracked() {
        return facts().hasAttributeOrder();
    }

    @Override
    public Group getParent() {
        return parent;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public String getPath() {
        return location;
    }

    @Override
    public Map<String, Attribute> getAttributes() {
        Map<String, Attribute> attributes = new LinkedHashMap<>();
        for (String each : Objects.attributeNames(nativeFile(), location)) {
            attributes.put(each, new AttributeNode(this, each, null));
        }
        return Collections.unmodifiableMap(attributes);
    }

    @Override
    public Attribute getAttribute(String name) {
        ArrayInfo info = Objects.attribute(nativeFile(), location, name);
        return info == null ? null : new AttributeNode(this, name, info);
    }

    @Override
    public boolean isGroup() {
        return getType() == NodeType.GROUP;
    }

    @Override
    public HdfFile getHdfFile() {
        return file;
    }

    @Override
    public long getAddress() {
        return address;
    }

    /**
     * Adds an attribute to this object, or replaces it.
     *
     * @param name the name
     * @param data the value
     * @return the attribute
     */
    public Attribute putAttribute(String name, Object data) {
        return putAttribute(name, data, false);
    }

    /**
     * Adds an attribute to this object, or replaces it.
     *
     * @param name the name
     * @param data the value
     * @param unsigned whether integers are unsigned
     * @return the attribute
     */
    public Attribute putAttribute(String name, Object data, boolean unsigned) {
        if (name == null || name.isBlank()) {
            throw new IllegalArgumentException("an attribute needs a name");
        }
        ArrayData value = ArrayData.of(data, unsigned);
        return nativeFile()
                .changing(
                        () -> {
                            value.writeAttribute(nativeFile(), location, name);
                            return getAttribute(name);
                        });
    }

    /**
     * Removes an attribute.
     *
     * @param name the name
     * @return the attribute with its value, or {@code null} if there was none
     */
    public Attribute removeAttribute(String name) {
        return nativeFile()
                .changing(
                        () -> {
                            Attribute attribute = getAttribute(name);
                            if (attribute == null) {
                                return null;
                            }
                            Attribute removed = ((AttributeNode) attribute).detached();
                            Objects.deleteAttribute(nativeFile(), location, name);
                            return removed;
                        });
    }

    @Override
    public String toString() {
        return getType() + " '" + getPath() + "'";
    }

    /** Returns dimensions as jHDF has them. */
    static int[] toInts(long[] dimensions) {
        int[] result = new int[dimensions.length];
        for (int i = 0; i < result.length; i++) {
            result[i] = Math.toIntExact(dimensions[i]);
        }
        return result;
    }

    /** Returns dimensions of a result. */
    static int[] arrayDimensions(long[] dimensions, String of) {
        try {
            return toInts(dimensions);
        } catch (ArithmeticException error) {
            throw new HdfException(
                    of
                            + " has a dimension that no array of Java can have:"
                            + " read parts by getData(long[], int[])",
                    error);
        }
    }

    /** Returns a number of bytes that one buffer can have. */
    static int bufferSize(long bytes, String of) {
        if (bytes > Integer.MAX_VALUE) {
            throw new HdfException(
                    of + " has more than 2 GiB: read parts by read(Selection, ByteBuffer)");
        }
        return (int) bytes;
    }

    /** Returns the byte order of the elements as they are stored. */
    static ByteOrder order(DataType type) {
        return type instanceof OrderedDataType ordered
                ? ordered.getByteOrder()
                : ByteOrder.LITTLE_ENDIAN;
    }

    /** Returns the class of a value that is alone. */
    static Class<?> boxed(Class<?> type) {
        return java.lang.invoke.MethodType.methodType(type).wrap().returnType();
    }
}
