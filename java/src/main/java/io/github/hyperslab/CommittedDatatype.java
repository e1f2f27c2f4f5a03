package io.github.hyperslab;

import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.NodeType;
import io.github.hyperslab.internal.Objects;
import io.github.hyperslab.object.datatype.DataType;

/** A datatype with a name in the file. */
public final class CommittedDatatype extends AbstractNode {
    CommittedDatatype(HdfFile file, Group parent, String name, String location, long address) {
        super(file, parent, name, location, address);
    }

    @Override
    public NodeType getType() {
        return NodeType.COMMITTED_DATATYPE;
    }

    /**
     * Returns the datatype.
     *
     * @return the datatype
     */
    public DataType getDataType() {
        return DataType.of(Objects.type(nativeFile(), location(), null));
    }
}
