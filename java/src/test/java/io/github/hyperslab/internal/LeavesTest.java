package io.github.hyperslab.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.hyperslab.HdfFile;
import io.github.hyperslab.exceptions.HdfException;
import io.github.hyperslab.object.datatype.DataType;
import io.github.hyperslab.object.datatype.EnumDataType;
import io.github.hyperslab.object.datatype.VariableLength;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Map;

/** Elements as they are stored become those of Java. */
class LeavesTest {
    private static final int ID = 16;

    /** Returns stored elements as an array. */
    private static Object decoded(DataType type, ByteBuffer bytes, int count) {
        return Reader.decode(type, MemoryType.STORED, null, bytes, new int[] {count});
    }

    @Test
    void addressesOfFourBytesHaveNoSign() {
        byte[] four = {0x17, 0, 0, 0, 4, 0, 0, 0};
        byte[] eight = {0x17, 0, 0, 0, 8, 0, 0, 0};
        ByteBuffer bytes =
                ByteBuffer.allocateDirect(8).putInt(0x90).putInt(0x80).clear(); // Little-endian.
        assertArrayEquals(
                new long[] {0x9000_0000L, 0x8000_0000L},
                (long[]) decoded(DataType.of(four), bytes, 2));
        assertArrayEquals(
                new long[] {0x8000_0000_9000_0000L},
                (long[]) decoded(DataType.of(eight), bytes, 1));
    }

    /** Returns an enumeration of one byte whose members are 15 and 1 there. */
    private static EnumDataType members(int flags, int offset, int precision, int low, int high) {
        byte[] message = {
            0x38, 2, 0, 0, 1, 0, 0, 0, // Two members, one byte.
            0x10, (byte) flags, 0, 0, 1, 0, 0, 0, (byte) offset, 0, (byte) precision, 0,
            'l', 'o', 'w', 0, 'h', 'i', 'g', 'h', 0, (byte) low, (byte) high
        };
        return (EnumDataType) DataType.of(message);
    }

    @Test
    void membersAreOfThoseBitsThatElementsHave() {
        int signed = 8;
        EnumDataType four = members(signed, 0, 4, 0x0F, 0x01);
        EnumDataType shifted = members(signed, 2, 4, 0x3C, 0x04);
        for (EnumDataType type : new EnumDataType[] {four, shifted}) {
            assertEquals(Map.of(-1L, "low", 1L, "high"), type.getMembers());
        }
        EnumDataType unsigned = members(0, 0, 4, 0x0F, 0x01);
        assertEquals(Map.of(15L, "low", 1L, "high"), unsigned.getMembers());
        ByteBuffer bytes = ByteBuffer.allocateDirect(3).put(new byte[] {0x0F, 0x01, 0x02}).clear();
        for (EnumDataType type : new EnumDataType[] {four, unsigned}) {
            assertArrayEquals(
                    new String[] {"low", "high", null},
                    (String[]) decoded(type, bytes, 3));
        }
    }

    @Test
    void stringsOfMoreThanOneBufferComeInBatches() {
        int count = Scratch.PART / ID; // The ids of a part of a read: 2.2 GiB of strings.
        ByteBuffer ids = ByteBuffer.allocateDirect(count * ID).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            ids.putInt(i * ID, 1100);
        }
        long most = Leaves.Sequences.MOST;
        int done = 0;
        int batches = 0;
        while (done < count) {
            int batch = Leaves.Sequences.batch(ids, ID, done, count, 1, most);
            assertEquals(Math.min(most / 1100, count - done), batch);
            done += batch;
            batches++;
        }
        assertEquals(9, batches);
        assertEquals(most / 8800, Leaves.Sequences.batch(ids, ID, 0, count, 8, most));
        ids.putInt(0, -1); // 4,294,967,295 elements come alone.
        assertEquals(1, Leaves.Sequences.batch(ids, ID, 0, count, 1, most));
    }

    @Test
    void batchesGiveTheSameSequences() {
        Path path = Path.of(System.getProperty("golden"), "composed_latest.h5");
        Object[] expected;
        try (HdfFile file = new HdfFile(path)) {
            expected = (Object[]) file.getDatasetByPath("sequences").getData();
        }
        try (NativeFile file = NativeFile.open(path.toString(), NativeFile.READ)) {
            Datasets dataset = new Datasets(file, "/sequences");
            VariableLength type = (VariableLength) DataType.of(dataset.type());
            int size = expected.length * ID;
            try (Scratch scratch = Scratch.of(size)) {
                dataset.read(null, MemoryType.STORED, scratch.memory(), size);
                for (long most : new long[] {0, 1, 20, 100, 1 << 20}) {
                    Object[] read = new Object[expected.length];
                    new Leaves.Sequences(type, file, most)
                            .fill(read, 0, read.length, scratch.memory(), 0, ID);
                    assertArrayEquals(expected, read, "at most " + most + " bytes");
                }
            }
        }
    }

    @Test
    void idsWithoutRoomForALengthAreAnException() {
        byte[] message = {0x19, 1, 0, 0, 2, 0, 0, 0, 0x13, 0, 0, 0, 1, 0, 0, 0};
        DataType type = DataType.of(message);
        ByteBuffer bytes = ByteBuffer.allocateDirect(4);
        assertThrows(HdfException.class, () -> decoded(type, bytes, 2));
    }
}
