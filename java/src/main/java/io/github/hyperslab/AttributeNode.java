package io.github.hyperslab;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.internal.ArrayInfo;
import io.github.hyperslab.internal.MemoryType;
import io.github.hyperslab.internal.Objects;
import io.github.hyperslab.internal.Reader;
import io.github.hyperslab.internal.Scratch;
import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.message.DataSpace;

import java.nio.ByteBuffer;
import java.util.function.Supplier;

/** An attribute; what it is like is read when it is first needed. */
final class AttributeNode implements Attribute {
    private final AbstractNode node;
    private final String name;
    private volatile ArrayInfo info;
    private volatile DataType type;

    /** Whether the attribute was removed; then {@code kept} is its value. */
    private boolean isDetached;

    private Object kept;

    AttributeNode(AbstractNode node, String name, ArrayInfo info) {
        this.node = node;
        this.name = name;
        this.info = info;
    }

    /** Tells whether the attribute may have been replaced since it was looked up. */
    private boolean mayChange() {
        return !isDetached && node.getHdfFile().isWritable();
    }

    /** Runs calls that must see one attribute, not one and another that replaces it. */
    private <T> T reading(Supplier<T> calls) {
        return node.nativeFile().reading(calls);
    }

    private ArrayInfo info() {
        ArrayInfo found = info;
        if (found == null || mayChange()) {
            found = Objects.attribute(node.nativeFile(), node.location(), name);
            if (found == null) {
                throw new HdfException(
                        "'" + node.getPath() + "' has no attribute '" + name + "' any more");
            }
            info = found;
        }
        return found;
    }

    @Override
    public DataType getDataType() {
        DataType found = type;
        if (found == null || mayChange()) {
            found = DataType.of(Objects.type(node.nativeFile(), node.location(), name));
            type = found;
        }
        return found;
    }

    /** Returns an attribute with the same value, which needs no file. */
    AttributeNode detached() {
        AttributeNode copy = new AttributeNode(node, name, info());
        copy.type = getDataType();
        copy.kept = getData();
        copy.isDetached = true;
        return copy;
    }

    @Override
    public Node getNode() {
        return node;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public long getSize() {
        return info().elements();
    }

    @Override
    public long getSizeInBytes() {
        ArrayInfo found = info();
        return Math.multiplyExact(found.elements(), (long) found.elementSize());
    }

    @Override
    public int[] getDimensions() {
        return AbstractNode.toInts(info().shape());
    }

    @Override
    public long[] getDimensionsAsLong() {
        return info().shape().clone();
    }

    @Override
    public boolean isScalar() {
        ArrayInfo found = info();
        return found.elements() != 0 && found.shape().length == 0;
    }

    @Override
    public boolean isEmpty() {
        return info().elements() == 0;
    }

    @Override
    public Class<?> getJavaType() {
        return reading(
                () -> {
                    Class<?> found = getDataType().getJavaType();
                    return isScalar() ? AbstractNode.boxed(found) : found;
                });
    }

    @Override
    public DataSpace getDataSpace() {
        ArrayInfo found = info();
        return new DataSpace(found.shape(), found.maxShape(), found.elements());
    }

    @Override
    public Object getData() {
        return isDetached ? kept : reading(this::stored);
    }

    private Object stored() {
        ArrayInfo found = info();
        if (found.elements() == 0) {
            return null;
        }
        int[] dims = AbstractNode.arrayDimensions(found.shape(), toString());
        DataType elements = getDataType();
        MemoryType memory = Reader.memoryType(elements);
        int size = size(found, memory.size(found.elementSize()));
        try (Scratch scratch = Scratch.of(size)) {
            ByteBuffer bytes = scratch.memory();
            read(memory, bytes, size);
            return Reader.decode(elements, memory, node.nativeFile(), bytes, dims);
        }
    }

    @Override
    public ByteBuffer getBuffer() {
        return reading(this::storedBytes);
    }

    private ByteBuffer storedBytes() {
        ArrayInfo found = info();
        if (found.elements() == 0) {
            return null;
        }
        int size = size(found, found.elementSize());
        ByteBuffer bytes = ByteBuffer.allocateDirect(size);
        read(MemoryType.STORED, bytes, size);
        return bytes.order(AbstractNode.order(getDataType()));
    }

    private static int size(ArrayInfo info, int elementSize) {
        return Math.toIntExact(Math.multiplyExact(info.elements(), (long) elementSize));
    }

    private void read(MemoryType memory, ByteBuffer into, int size) {
        Objects.readAttribute(node.nativeFile(), node.location(), name, memory, into, size);
    }

    @Override
    public String toString() {
        return "the attribute '" + name + "' of '" + node.getPath() + "'";
    }
}
