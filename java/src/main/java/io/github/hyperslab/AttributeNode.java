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

/** An attribute; what it is like is read when it is first needed. */
final class AttributeNode implements Attribute {
    private final AbstractNode node;
    private final String name;
    private ArrayInfo info;
    private DataType type;

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

    private synchronized ArrayInfo info() {
        if (info == null || mayChange()) {
            info = Objects.attribute(node.nativeFile(), node.location(), name);
            if (info == null) {
                throw new HdfException(
                        "'" + node.getPath() + "' has no attribute '" + name + "' any more");
            }
        }
        return info;
    }

    @Override
    public synchronized DataType getDataType() {
        if (type == null || mayChange()) {
            type = DataType.of(Objects.type(node.nativeFile(), node.location(), name));
        }
        return type;
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
        return Math.multiplyExact(info().elements(), (long) info().elementSize());
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
        return !isEmpty() && info().shape().length == 0;
    }

    @Override
    public boolean isEmpty() {
        return info().elements() == 0;
    }

    @Override
    public Class<?> getJavaType() {
        Class<?> found = getDataType().getJavaType();
        return isScalar() ? AbstractNode.boxed(found) : found;
    }

    @Override
    public DataSpace getDataSpace() {
        return new DataSpace(info().shape(), info().maxShape(), info().elements());
    }

    @Override
    public Object getData() {
        if (isDetached || isEmpty()) {
            return kept;
        }
        int[] dims = AbstractNode.arrayDimensions(info().shape(), toString());
        DataType elements = getDataType();
        MemoryType memory = Reader.memoryType(elements);
        int size = size(memory.size(info().elementSize()));
        try (Scratch scratch = Scratch.of(size)) {
            ByteBuffer bytes = scratch.memory();
            read(memory, bytes, size);
            return Reader.decode(elements, memory, node.nativeFile(), bytes, dims);
        }
    }

    @Override
    public ByteBuffer getBuffer() {
        if (isEmpty()) {
            return null;
        }
        int size = size(info().elementSize());
        ByteBuffer bytes = ByteBuffer.allocateDirect(size);
        read(MemoryType.STORED, bytes, size);
        return bytes.order(AbstractNode.order(getDataType()));
    }

    private int size(int elementSize) {
        return Math.toIntExact(Math.multiplyExact(info().elements(), (long) elementSize));
    }

    private void read(MemoryType memory, ByteBuffer into, int size) {
        Objects.readAttribute(node.nativeFile(), node.location(), name, memory, into, size);
    }

    @Override
    public String toString() {
        return "the attribute '" + name + "' of '" + node.getPath() + "'";
    }
}
