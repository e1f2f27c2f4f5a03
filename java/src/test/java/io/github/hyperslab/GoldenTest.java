package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Link;
import io.github.hyperslab.api.Node;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * jHDF is the oracle: what it reads from the golden files, this library reads with the same values
 * and types.
 */
class GoldenTest {
    private static final Path GOLDEN = Path.of(System.getProperty("golden"));

    private final List<String> differences = new ArrayList<>();
    private final Map<String, Integer> explained = new TreeMap<>();

    /** The groups of the file that were compared: groups may contain themselves. */
    private final Set<Long> groups = new HashSet<>();

    private int equal;
    private int onlyHere;

    @Test
    void whatJhdfReadsIsTheSame() throws IOException {
        try (Stream<Path> files = Files.list(GOLDEN)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                compare(file);
            }
        }
        System.out.printf(
                "golden files: %d values equal, %d that jHDF cannot read; different for a reason: %s%n",
                equal, onlyHere, explained);
        assertEquals("", String.join("\n", differences));
        assertTrue(equal >= 11_000, equal + " values");
        assertEquals(
                Map.of(
                        Differences.FILL, 30,
                        Differences.EMPTY, 27,
                        Differences.NUMBERING, 12,
                        Differences.NULL, 2,
                        Differences.BFLOAT, 6,
                        Differences.BITS, 30),
                explained);
    }

    private void compare(Path path) {
        io.jhdf.HdfFile theirs;
        try {
            theirs = new io.jhdf.HdfFile(path);
        } catch (RuntimeException error) {
            onlyHere++;
            return;
        }
        groups.clear();
        try (theirs;
                HdfFile ours = new HdfFile(path)) {
            group(path.getFileName() + ":", theirs, ours);
        } catch (RuntimeException error) {
            differences.add(path.getFileName() + ": " + error);
        }
    }

    private void group(String file, io.jhdf.api.Group theirs, Group ours) {
        if (!groups.add(theirs.getAddress())) {
            return;
        }
        attributes(file, theirs, ours);
        Map<String, io.jhdf.api.Node> children;
        try {
            children = theirs.getChildren();
        } catch (RuntimeException error) {
            onlyHere++;
            return;
        }
        same(
                file + theirs.getPath() + " children",
                () -> children.keySet().stream().sorted().toList().toString(),
                () -> ours.getChildren().keySet().stream().sorted().toList().toString());
        for (Map.Entry<String, io.jhdf.api.Node> child : children.entrySet()) {
            node(file, child.getValue(), ours.getChildren().get(child.getKey()));
        }
    }

    private void node(String file, io.jhdf.api.Node theirs, Node ours) {
        String at = file + theirs.getPath();
        if (ours == null) {
            differences.add(at + ": not found");
            return;
        }
        same(at + " path", theirs::getPath, ours::getPath);
        same(at + " is a link", theirs::isLink, ours::isLink);
        if (theirs instanceof io.jhdf.api.Link link) {
            same(at + " target", link::getTargetPath, ((Link) ours)::getTargetPath);
            return;
        }
        same(at + " type", () -> theirs.getType().name(), () -> ours.getType().name());
        same(at + " address", theirs::getAddress, ours::getAddress);
        if (theirs instanceof io.jhdf.api.Group group) {
            group(file, group, (Group) ours);
            return;
        }
        attributes(file, theirs, ours);
        if (theirs instanceof io.jhdf.api.Dataset dataset) {
            dataset(at, dataset, (Dataset) ours);
        }
    }

    private void dataset(String at, io.jhdf.api.Dataset theirs, Dataset ours) {
        same(at + " dimensions", theirs::getDimensionsAsLong, ours::getDimensionsAsLong);
        same(at + " max size", theirs::getMaxSize, ours::getMaxSize);
        same(at + " size", theirs::getSize, ours::getSize);
        same(at + " size in bytes", theirs::getSizeInBytes, ours::getSizeInBytes);
        same(
                at + " layout",
                () -> theirs.getDataLayout().name(),
                () -> ours.getDataLayout().name());
        same(at + " Java type", theirs::getJavaType, ours::getJavaType);
        same(at + " scalar", theirs::isScalar, ours::isScalar);
        same(at + " empty", theirs::isEmpty, ours::isEmpty);
        same(at + " compound", theirs::isCompound, ours::isCompound);
        same(at + " variable length", theirs::isVariableLength, ours::isVariableLength);
        same(at + " fill value", theirs::getFillValue, ours::getFillValue);
        same(at + " filters", () -> filters(theirs), () -> filters(ours));
        if (theirs.getSize() > 5_000_000) {
            return;
        }
        same(at, theirs::getData, ours::getData);
        same(at + " flat", theirs::getDataFlat, ours::getDataFlat);
        if (theirs.getDimensionsAsLong().length > 0 && theirs.getSize() > 0) {
            long[] offset =
                    Arrays.stream(theirs.getDimensionsAsLong()).map(length -> length / 3).toArray();
            int[] slice =
                    Arrays.stream(theirs.getDimensionsAsLong())
                            .mapToInt(n -> (int) (n - n / 3 + 1) / 2)
                            .toArray();
            same(
                    at + " slice",
                    () -> theirs.getData(offset, slice),
                    () -> ours.getData(offset, slice));
        }
    }

    private static String filters(io.jhdf.api.Dataset dataset) {
        return dataset.getFilters().stream()
                .map(f -> f.getId() + Arrays.toString(f.getFilterData()))
                .toList()
                .toString();
    }

    private static String filters(Dataset dataset) {
        return dataset.getFilters().stream()
                .map(f -> f.getId() + Arrays.toString(f.getFilterData()))
                .toList()
                .toString();
    }

    private void attributes(String file, io.jhdf.api.Node theirs, Node ours) {
        String at = file + theirs.getPath();
        Map<String, io.jhdf.api.Attribute> attributes;
        try {
            attributes = theirs.getAttributes();
        } catch (RuntimeException error) {
            onlyHere++;
            return;
        }
        same(
                at + " attributes",
                () -> attributes.keySet().stream().sorted().toList().toString(),
                () -> ours.getAttributes().keySet().stream().sorted().toList().toString());
        attributes.forEach(
                (name, attribute) -> {
                    Attribute found = ours.getAttribute(name);
                    String of = at + "@" + name;
                    if (found == null) {
                        differences.add(of + ": not found");
                        return;
                    }
                    same(
                            of + " dimensions",
                            attribute::getDimensionsAsLong,
                            found::getDimensionsAsLong);
                    same(of + " Java type", attribute::getJavaType, found::getJavaType);
                    same(of + " scalar", attribute::isScalar, found::isScalar);
                    same(of + " empty", attribute::isEmpty, found::isEmpty);
                    same(of, attribute::getData, found::getData);
                });
    }

    private void same(String at, Callable<?> theirs, Callable<?> ours) {
        Object expected;
        try {
            expected = theirs.call();
        } catch (Exception error) {
            onlyHere++;
            return;
        }
        String difference;
        try {
            difference = Values.difference(expected, ours.call());
        } catch (Exception error) {
            difference = " " + error;
        }
        if (difference == null) {
            equal++;
            return;
        }
        String reason = Differences.reason(at);
        if (reason == null) {
            differences.add(at + difference);
        } else {
            explained.merge(reason, 1, Integer::sum);
        }
    }
}
