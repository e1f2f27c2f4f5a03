package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * jHDF's names: each public method of its API for users is here with the same parameters and
 * result.
 */
class ApiTest {
    private static final List<Class<?>> THEIRS =
            List.of(
                    io.jhdf.HdfFile.class,
                    io.jhdf.WritableHdfFile.class,
                    io.jhdf.CommittedDatatype.class,
                    io.jhdf.api.Attribute.class,
                    io.jhdf.api.Dataset.class,
                    io.jhdf.api.Group.class,
                    io.jhdf.api.Link.class,
                    io.jhdf.api.Node.class,
                    io.jhdf.api.NodeType.class,
                    io.jhdf.api.WritableDataset.class,
                    io.jhdf.api.WritableGroup.class,
                    io.jhdf.api.WritableNode.class,
                    io.jhdf.api.DatasetCreationOptions.class,
                    io.jhdf.api.DatasetCreationOptions.Builder.class,
                    io.jhdf.api.dataset.ChunkedDataset.class,
                    io.jhdf.api.dataset.ContiguousDataset.class,
                    io.jhdf.filter.PipelineFilterWithData.class,
                    io.jhdf.links.SoftLink.class,
                    io.jhdf.links.ExternalLink.class,
                    io.jhdf.object.message.DataLayout.class,
                    io.jhdf.object.message.DataSpace.class,
                    io.jhdf.object.datatype.DataType.class,
                    io.jhdf.object.datatype.FixedPoint.class,
                    io.jhdf.object.datatype.FloatingPoint.class,
                    io.jhdf.object.datatype.StringData.class,
                    io.jhdf.object.datatype.CompoundDataType.class,
                    io.jhdf.object.datatype.CompoundDataType.CompoundDataMember.class,
                    io.jhdf.object.datatype.EnumDataType.class,
                    io.jhdf.object.datatype.VariableLength.class,
                    io.jhdf.object.datatype.ArrayDataType.class,
                    io.jhdf.object.datatype.Reference.class,
                    io.jhdf.object.datatype.OpaqueDataType.class,
                    io.jhdf.object.datatype.BitField.class,
                    io.jhdf.object.datatype.TimeDataType.class,
                    io.jhdf.exceptions.HdfException.class,
                    io.jhdf.exceptions.HdfInvalidPathException.class,
                    io.jhdf.exceptions.HdfBrokenLinkException.class,
                    io.jhdf.exceptions.InvalidSliceHdfException.class,
                    io.jhdf.exceptions.HdfTypeException.class,
                    io.jhdf.exceptions.HdfFilterException.class,
                    io.jhdf.exceptions.HdfWritingException.class,
                    io.jhdf.exceptions.UnsupportedHdfException.class,
                    io.jhdf.exceptions.InMemoryHdfException.class);

    /** Methods that are left out, with the reason. */
    private static final Map<String, String> LEFT_OUT =
            Map.ofEntries(
                    Map.entry("getHdfBackingStorage", "an internal of jHDF"),
                    Map.entry("addExternalFile", "an internal of jHDF"),
                    Map.entry("write(HdfFileChannel, long)", "an internal of jHDF"),
                    Map.entry("getHeader", "an internal of jHDF"),
                    Map.entry("fillData", "an internal of jHDF"),
                    Map.entry("readDataType", "an internal of jHDF: DataType.of(byte[])"),
                    Map.entry("fromObject", "an internal of jHDF"),
                    Map.entry("encodeData", "an internal of jHDF"),
                    Map.entry("toBuffer", "an internal of jHDF"),
                    Map.entry("writeData", "an internal of jHDF"),
                    Map.entry("reduce", "an internal of jHDF"),
                    Map.entry("combine", "an internal of jHDF"),
                    Map.entry("create", "an internal of jHDF"),
                    Map.entry("readDataSpace", "an internal of jHDF"),
                    Map.entry("modifyDimensions", "an internal of jHDF"),
                    Map.entry("combineDim0", "an internal of jHDF"),
                    Map.entry("getStringPaddingHandler", "an internal of jHDF"),
                    Map.entry("toFloat", "an internal of jHDF"),
                    Map.entry(
                            "filter(Filter, int[])",
                            "filters are numbers here: filter(int, int[])"),
                    Map.entry("getFilter", "filters are numbers here"),
                    Map.entry("getSizeInBytes of DataSpace", "an internal of jHDF"),
                    Map.entry("getType of DataSpace", "an internal of jHDF"),
                    Map.entry("getVersion of DataSpace", "an internal of jHDF"),
                    Map.entry("isMaxSizesPresent", "an internal of jHDF"),
                    Map.entry("isVaxEndian", "an internal of jHDF"),
                    Map.entry(
                            "getDimensionSize",
                            "the dimensions of a member are those of its array datatype"),
                    Map.entry("isLowPadding of FloatingPoint", "no effect on values"),
                    Map.entry("isHighPadding of FloatingPoint", "no effect on values"),
                    Map.entry("isInternalPadding", "no effect on values"),
                    Map.entry("isLowPadding of BitField", "no effect on values"),
                    Map.entry("isHighPadding of BitField", "no effect on values"),
                    Map.entry("getDataAddress", "the C API does not tell it"));

    @Test
    void jhdfsMethodsAreHere() throws ClassNotFoundException {
        List<String> missing = new ArrayList<>();
        int found = 0;
        for (Class<?> theirs : THEIRS) {
            Class<?> ours = Class.forName(ours(theirs));
            for (Method method : theirs.getMethods()) {
                if (!method.getDeclaringClass().getName().startsWith("io.jhdf")
                        || isLeftOut(theirs, method)) {
                    continue;
                }
                if (has(ours, method)) {
                    found++;
                } else if (!Modifier.isStatic(method.getModifiers())
                        || method.getDeclaringClass() == theirs) {
                    missing.add(theirs.getSimpleName() + "." + signature(method));
                }
            }
        }
        assertEquals("", String.join("\n", missing));
        System.out.printf("jHDF's API: %d classes, %d methods%n", THEIRS.size(), found);
    }

    private static boolean isLeftOut(Class<?> type, Method method) {
        return LEFT_OUT.containsKey(method.getName())
                || LEFT_OUT.containsKey(method.getName() + " of " + type.getSimpleName())
                || LEFT_OUT.containsKey(signature(method));
    }

    private static boolean has(Class<?> ours, Method theirs) {
        return Arrays.stream(ours.getMethods())
                .anyMatch(
                        method ->
                                method.getName().equals(theirs.getName())
                                        && signature(method).equals(signature(theirs))
                                        && method.getReturnType()
                                                .getSimpleName()
                                                .equals(theirs.getReturnType().getSimpleName()));
    }

    private static String signature(Method method) {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    private static String ours(Class<?> theirs) {
        return theirs.getName().replace("io.jhdf.", "io.github.hyperslab.");
    }
}
