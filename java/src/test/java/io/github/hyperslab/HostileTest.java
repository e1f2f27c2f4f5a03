package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.hyperslab.api.Attribute;
import io.github.hyperslab.api.Dataset;
import io.github.hyperslab.api.Group;
import io.github.hyperslab.api.Link;
import io.github.hyperslab.api.Node;
import io.github.hyperslab.exceptions.HdfBrokenLinkException;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.object.datatype.DataType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Damaged files give exceptions of this library, and nothing else. */
class HostileTest {
    private static final Path GOLDEN = Path.of(System.getProperty("golden"));
    private static final int FILES_PER_SEED = 12;

    @TempDir private Path folder;

    @Test
    void changedBytesGiveValuesOrExceptions() throws IOException {
        int read = 0;
        int refused = 0;
        try (Stream<Path> files = Files.list(GOLDEN)) {
            List<Path> small =
                    files.filter(path -> path.toFile().isFile() && path.toFile().length() < 100_000)
                            .sorted()
                            .toList();
            for (Path path : small) {
                byte[] bytes = Files.readAllBytes(path);
                Random random = new Random(path.getFileName().toString().hashCode());
                for (int i = 0; i < FILES_PER_SEED; i++) {
                    byte[] damaged = bytes.clone();
                    for (int change = 0; change <= i; change++) {
                        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
                    }
                    try (HdfFile file = HdfFile.fromBytes(damaged)) {
                        walk(file, new HashSet<>());
                        read++;
                    } catch (HdfException error) {
                        refused++;
                    }
                }
            }
        }
        assertTrue(read > 100 && refused > 20, read + " read, " + refused + " refused");
    }

    /** Reads everything; only the exceptions of this library are allowed. */
    private static void walk(Group group, Set<Long> walked) {
        if (!walked.add(group.getAddress())) {
            return;
        }
        attributes(group);
        for (Node node : group.getChildren().values()) {
            try {
                if (node.isLink()) {
                    node.getType();
                } else if (node instanceof Group inner) {
                    walk(inner, walked);
                } else {
                    attributes(node);
                    if (node instanceof Dataset dataset && dataset.getSizeInBytes() < 10_000_000) {
                        dataset.getFillValue();
                        dataset.getFilters();
                        dataset.getData();
                    }
                }
            } catch (HdfException error) {
                // The damage is here; its neighbours are read all the same.
            }
        }
    }

    private static void attributes(Node node) {
        for (Attribute attribute : node.getAttributes().values()) {
            try {
                if (attribute.getSizeInBytes() < 10_000_000) {
                    attribute.getData();
                }
            } catch (HdfException error) {
                // As above.
            }
        }
    }

    @Test
    void datatypeMessagesAreChecked() {
        Random random = new Random(7);
        byte[] compound = {
            0x36, 2, 0, 0, 8, 0, 0, 0, 'a', 0, 0, 0x30, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0, 'b', 0, 4,
            0x30, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0
        };
        assertTrue(DataType.of(compound).getSize() == 8);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = java.util.Arrays.copyOf(compound, 1 + random.nextInt(compound.length));
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            try {
                DataType.of(damaged);
            } catch (HdfException error) {
                refused++;
            }
        }
        assertTrue(refused > 10_000, refused + " refused");
        byte[] beyond = compound.clone();
        beyond[25] = 5;
        assertThrows(HdfException.class, () -> DataType.of(beyond));
        byte[] bits = {0x30, 8, 0, 0, 4, 0, 0, 0, 8, 0, 32, 0};
        assertThrows(HdfException.class, () -> DataType.of(bits));
        // Sequences of sequences, and so on, of integers.
        byte[] nested = new byte[8 * 40 + 12];
        for (int i = 0; i < nested.length - 12; i += 8) {
            nested[i] = 0x39;
            nested[i + 4] = 16;
        }
        System.arraycopy(bits, 0, nested, 8 * 40, 12);
        nested[8 * 40 + 8] = 0;
        assertThrows(HdfException.class, () -> DataType.of(nested));
    }

    @Test
    void noHdf5FileIsAnException() throws IOException {
        Path text = Files.writeString(folder.resolve("text.h5"), "no HDF5");
        assertThrows(HdfException.class, () -> new HdfFile(text));
        assertThrows(HdfException.class, () -> new HdfFile(folder.resolve("missing.h5")));
        assertThrows(HdfException.class, () -> HdfFile.fromBytes(new byte[0]));
    }

    @Test
    void anObjectThatCannotBeReadHidesNoOther() throws IOException {
        Path path = folder.resolve("header.h5");
        try (WritableHdfFile out = HdfFile.write(path)) {
            out.putDataset("bad", new int[] {2});
            out.putDataset("good", 1);
        }
        byte[] bytes = Files.readAllBytes(path);
        try (HdfFile file = new HdfFile(path)) {
            bytes[(int) file.getChild("bad").getAddress()] ^= 1;
        }
        try (HdfFile file = HdfFile.fromBytes(bytes)) {
            assertEquals(Set.of("bad", "good"), file.getChildren().keySet());
            assertEquals(1, file.getDatasetByPath("good").getData());
            Node bad = file.getChildren().get("bad");
            assertEquals("bad", bad.getName());
            List<Executable> uses =
                    List.of(
                            bad::getType,
                            bad::isGroup,
                            bad::getAddress,
                            bad::getAttributes,
                            () -> file.getChild("bad"),
                            () -> file.getDatasetByPath("bad"));
            for (Executable use : uses) {
                HdfException error = assertThrows(HdfException.class, use);
                assertTrue(error.getMessage().contains("object header"), error.getMessage());
            }
        }
    }

    @Test
    void linksThatDoubleTheWayAreBroken() {
        Path path = folder.resolve("doubling.h5");
        int last = 18; // Some hundred thousand links, were they all followed.
        try (WritableHdfFile out = HdfFile.write(path)) {
            out.putSoftLink("l0", "/");
            for (int i = 1; i <= last; i++) {
                out.putSoftLink("l" + i, "/l" + (i - 1) + "/l" + (i - 1));
            }
            out.putGroup("g");
            for (int i = 0; i < 50; i++) {
                out.putSoftLink("g/chain" + i, i == 0 ? "/g" : "chain" + (i - 1));
            }
        }
        try (HdfFile file = new HdfFile(path)) {
            assertThrows(HdfBrokenLinkException.class, () -> file.getByPath("l" + last));
            assertTrue(((Link) file.getChild("l" + last)).isBrokenLink());
            // Each look-up counts for itself.
            for (int i = 0; i < 50; i++) {
                assertEquals("/", file.getByPath("l5").getPath());
                assertEquals("/g/", file.getByPath("g/chain49/chain49").getPath());
            }
        }
    }

    @Test
    void linksInACircleDoNotBlockThreads() {
        Path path = folder.resolve("circle.h5");
        try (WritableHdfFile out = HdfFile.write(path)) {
            out.putSoftLink("a", "/b");
            out.putSoftLink("b", "/a");
        }
        try (HdfFile file = new HdfFile(path)) {
            file.getChildren();
            List<CompletableFuture<Boolean>> followed =
                    Stream.of("a", "b")
                            .map(name -> (Link) file.getChild(name))
                            .map(link -> CompletableFuture.supplyAsync(() -> areBroken(link)))
                            .toList();
            for (CompletableFuture<Boolean> each : followed) {
                assertTrue(each.orTimeout(60, TimeUnit.SECONDS).join());
            }
        }
    }

    private static boolean areBroken(Link link) {
        boolean isBroken = true;
        for (int i = 0; i < 3000; i++) {
            isBroken &= link.isBrokenLink();
        }
        return isBroken;
    }

    @Test
    void linksThatLeadToThemselvesAreBroken() {
        Path path = folder.resolve("links.h5");
        try (WritableHdfFile out = HdfFile.write(path)) {
            out.putSoftLink("a", "/b");
            out.putSoftLink("b", "a");
            out.putSoftLink("nowhere", "/c/d");
            out.putGroup("g").putSoftLink("up", "data");
            out.putDataset("data", 1);
        }
        try (HdfFile file = new HdfFile(path)) {
            for (String name : List.of("a", "b", "nowhere")) {
                assertTrue(((Link) file.getChild(name)).isBrokenLink());
                assertThrows(HdfBrokenLinkException.class, () -> file.getByPath(name));
            }
            assertThrows(HdfException.class, () -> file.getByPath("g/up"));
        }
    }
}
