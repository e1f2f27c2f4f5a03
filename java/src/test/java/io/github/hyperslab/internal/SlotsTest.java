package io.github.hyperslab.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.hyperslab.HdfFile;
import io.github.hyperslab.WritableHdfFile;
import io.github.hyperslab.api.Dataset;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

/**
 * Every file, dataset and memory of items is given back. The low 32 bits of a handle of the C API
 * are the number of a slot, which is given again when its handle was closed: so one handle that is
 * left in each round shows in the slots of later ones.
 */
class SlotsTest {
    private static final int ROUNDS = 5000;
    private static final int MOST = 1000;

    @TempDir private Path folder;

    @Test
    void aListOfAGroupKeepsNoDatasetOpen() {
        Path path = folder.resolve("many.h5");
        try (WritableHdfFile file = HdfFile.write(path)) {
            for (int i = 0; i < 2 * MOST; i++) {
                file.putDataset("d" + i, i);
            }
        }
        try (HdfFile file = new HdfFile(path)) {
            assertEquals(2 * MOST, file.getChildren().size());
            assertEquals(7, file.getDatasetByPath("d7").getData());
            assertTrue(slot(path) < MOST, "slot " + slot(path));
        }
    }

    @Test
    void lookupsInOneFileKeepNoDatasetOpen() throws InterruptedException {
        Path path = folder.resolve("one.h5");
        try (WritableHdfFile file = HdfFile.write(path)) {
            file.putDataset("d", 1);
        }
        try (HdfFile file = new HdfFile(path)) {
            for (int i = 0; i < 4 * MOST; i++) {
                assertEquals(1, file.getDatasetByPath("d").getData());
                if (i % 200 == 0) {
                    System.gc(); // The collector closes datasets that nothing uses.
                    Thread.sleep(20);
                }
            }
        }
        assertTrue(slot(path) < MOST, "slot " + slot(path));
    }

    @Test
    void slotsAreGivenAgain() {
        Path path = folder.resolve("small.h5");
        try (WritableHdfFile file = HdfFile.write(path)) {
            file.putDataset("d", new String[] {"a", "b"}).putAttribute("a", "text");
        }
        for (int i = 0; i < ROUNDS; i++) {
            try (HdfFile file = new HdfFile(path)) {
                assertEquals(1, file.getChildren().size());
                Dataset dataset = file.getDatasetByPath("d");
                dataset.getData();
                dataset.getFilters();
                assertEquals("text", dataset.getAttribute("a").getData());
            }
        }
        assertTrue(slot(path) < MOST, "slot " + slot(path) + " after " + ROUNDS + " rounds");
    }

    /** Returns the slot that a new handle has. */
    private static long slot(Path path) {
        try (NativeFile file = NativeFile.open(path.toString(), NativeFile.READ)) {
            return file.call((handle, frame) -> handle & 0xFFFF_FFFFL);
        }
    }
}
