package io.github.hyperslab;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.internal.ArrayInfo;
import io.github.hyperslab.internal.MemoryType;
import io.github.hyperslab.internal.NativeFile;
import io.github.hyperslab.internal.Objects;
import io.github.hyperslab.internal.Reader;
import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.datatype.FloatingPoint;
import io.github.hyperslab.object.message.DataSpace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** An attribute; what it is like is read when it is first needed. */
final class AttributeNode implements Attribute {
    private final AbstractNode node;
    private final String name;
    private ArrayInfo info;
    private DataType type;

    /** The value of an attribute that was removed. */
    private Object kept;

    AttributeNode(AbstractNode node, String name, ArrayInfo info) {
        this.node = node;
        this.name = name;
        this.info = info;
    }

    private synchronized ArrayInfo info() {
        if (info == null) {
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
        if (type == null) {
            type = DataType.of(Objects.type(node.nativeFile(), node.location(), name));
        }
        return type;
    }

    /** Returns an attribute with the same value, which needs no file. */
    AttributeNode detached() {
        AttributeNode copy = new AttributeNode(node, name, info());
        copy.type = getDataType();
        copy.kept = getData();
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
        if (kept != null || isEmpty()) {
            return kept;
        }
        int[] dims = AbstractNode.arrayDimensions(info().shape(), toString());
        NativeFile file = node.nativeFile();
        DataType elements = getDataType();
        if (elements instanceof FloatingPoint number && !number.isIeee()) {
            MemoryType memory = MemoryType.of(number.getJavaType());
            return Reader.converted(memory, read(memory, memory.size()), dims);
        }
        return Reader.decode(elements, file, read(MemoryType.STORED, info().elementSize()), dims);
    }

    @Override
    public ByteBuffer getBuffer() {
        if (isEmpty()) {
            return null;
        }
        return read(MemoryType.STORED, info().elementSize())
                .order(AbstractNode.order(getDataType()));
    }

    private ByteBuffer read(MemoryType memory, int elementSize) {
        int size = Math.toIntExact(Math.multiplyExact(info().elements(), (long) elementSize));
        ByteBuffer bytes = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        Objects.readAttribute(node.nativeFile(), node.location(), name, memory, bytes, size);
        return bytes;
    }

    @Override
    public String toString() {
        return "the attribute '" + name + "' of '" + node.getPath() + "'";
    }
}
