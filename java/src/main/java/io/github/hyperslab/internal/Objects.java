package io.github.hyperslab.internal;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/** Calls about the objects of a file by their paths: groups, links, attributes. */
public final class Objects {
    /** The kind of a group. */
    public static final int GROUP = 0;

    /** The kind of a dataset. */
    public static final int DATASET = 1;

    /** A soft link. */
    public static final int SOFT = 1;

    /** An external link. */
    public static final int EXTERNAL = 64;

    private static final int OBJECT_INFO = 48;
    private static final int ORDER_LINKS = 1;
    private static final int ORDER_ATTRIBUTES = 2;
    private static final int LINK_INFO = 32;

    private Objects() {}

    /**
     * What an object is.
     *
     * @param kind a group (0), a dataset (1) or a committed datatype (2)
     * @param address the address of its header
     * @param hasLinkOrder whether it keeps the order in which its links are created
     * @param hasAttributeOrder whether it keeps the order in which its attributes are created
     */
    public record Facts(int kind, long address, boolean hasLinkOrder, boolean hasAttributeOrder) {}

    /**
     * What a link is.
     *
     * @param kind a hard (0), soft (1) or external (64) link, or a number of user-defined ones
     * @param targets the path of a soft link; the path and the file of an external one
     */
    public record LinkFacts(int kind, String[] targets) {}

    /**
     * Returns the names in a group.
     *
     * @param file the file
     * @param group its path
     * @return the names
     */
    public static String[] names(NativeFile file, String group) {
        return file.call(
                (handle, frame) -> {
                    try (Items items =
                            items(
                                    frame,
                                    "list '" + group + "'",
                                    out ->
                                            Library.call(
                                                    Function.NAMES,
                                                    handle,
                                                    frame.text(group),
                                                    out))) {
                        return items.texts();
                    }
                });
    }

    /**
     * Returns what the object at a path is.
     *
     * @param file the file
     * @param path its path; links are followed
     * @return the facts, or {@code null} if there is no object
     */
    public static Facts facts(NativeFile file, String path) {
        return file.call(
                (handle, frame) -> {
                    Frame.Struct info = frame.struct(OBJECT_INFO);
                    info.putLong(0, OBJECT_INFO);
                    long code =
                            Library.call(Function.OBJECT, handle, frame.text(path), info.address());
                    if (code == Library.ERROR_NOT_FOUND) {
                        return null;
                    }
                    Library.check(code, "look up '" + path + "'");
                    long orders = info.getLong(40);
                    return new Facts(
                            info.getInt(8),
                            info.getLong(16),
                            (orders & ORDER_LINKS) != 0,
                            (orders & ORDER_ATTRIBUTES) != 0);
                });
    }

    /**
     * Returns what the link at a path is.
     *
     * @param file the file
     * @param path its path; links on the way are followed
     * @return the facts, or {@code null} if there is no link
     */
    public static LinkFacts link(NativeFile file, String path) {
        return file.call(
                (handle, frame) -> {
                    Frame.Struct info = frame.struct(LINK_INFO);
                    info.putLong(0, LINK_INFO);
                    Frame.Struct targets = frame.struct(Items.SIZE);
                    long code =
                            Library.call(
                                    Function.LINK,
                                    handle,
                                    frame.text(path),
                                    info.address(),
                                    targets.address());
                    if (code == Library.ERROR_NOT_FOUND) {
                        return null;
                    }
                    Library.check(code, "look up the link '" + path + "'");
                    try (Items items = new Items(targets)) {
                        return new LinkFacts(info.getInt(8), items.texts());
                    }
                });
    }

    /**
     * Returns the path of the object with an address.
     *
     * @param file the file
     * @param address the address of the object's header
     * @return a path
     */
    public static String pathAt(NativeFile file, long address) {
        return file.call(
                (handle, frame) -> {
                    String doing = "look up the object at address " + address;
                    try (Items items =
                            items(
                                    frame,
                                    doing,
                                    out -> Library.call(Function.PATH_AT, handle, address, out))) {
                        return items.texts()[0];
                    }
                });
    }

    /**
     * Returns a datatype message.
     *
     * @param file the file
     * @param path the path of the object
     * @param attribute an attribute of the object, or {@code null} for the object's own datatype
     * @return the message
     */
    public static byte[] type(NativeFile file, String path, String attribute) {
        return file.call(
                (handle, frame) -> {
                    long name = attribute == null ? 0 : frame.text(attribute);
                    String doing = "read the datatype of " + of(path, attribute);
                    try (Items items =
                            items(
                                    frame,
                                    doing,
                                    out ->
                                            Library.call(
                                                    Function.TYPE_AT,
                                                    handle,
                                                    frame.text(path),
                                                    name,
                                                    out))) {
                        return items.copy(0);
                    }
                });
    }

    /**
     * Creates a group, and parents that are missing.
     *
     * @param file the file
     * @param path its path
     */
    public static void createGroup(NativeFile file, String path) {
        file.call(
                (handle, frame) -> {
                    Library.check(
                            Library.call(Function.GROUP_CREATE, handle, frame.text(path)),
                            "create the group '" + path + "'");
                    return null;
                });
    }

    /**
     * Creates a soft or external link.
     *
     * @param file the file
     * @param path the path of the link
     * @param target the path that it holds
     * @param targetFile the file of an external link, or {@code null}
     */
    public static void createLink(NativeFile file, String path, String target, String targetFile) {
        file.call(
                (handle, frame) -> {
                    long other = targetFile == null ? 0 : frame.text(targetFile);
                    int kind = targetFile == null ? SOFT : EXTERNAL;
                    Library.check(
                            Library.call(
                                    Function.LINK_CREATE,
                                    handle,
                                    frame.text(path),
                                    kind,
                                    frame.text(target),
                                    other),
                            "create the link '" + path + "'");
                    return null;
                });
    }

    /**
     * Removes a link, and its object if it was the last link.
     *
     * @param file the file
     * @param path the path of the link
     */
    public static void delete(NativeFile file, String path) {
        file.change(
                (handle, frame) -> {
                    Library.check(
                            Library.call(Function.DELETE, handle, frame.text(path)),
                            "delete '" + path + "'");
                    return null;
                });
    }

    /**
     * Returns the names of an object's attributes.
     *
     * @param file the file
     * @param path the path of the object
     * @return the names
     */
    public static String[] attributeNames(NativeFile file, String path) {
        return file.call(
                (handle, frame) -> {
                    try (Items items =
                            items(
                                    frame,
                                    "list the attributes of '" + path + "'",
                                    out ->
                                            Library.call(
                                                    Function.ATTRIBUTE_NAMES,
                                                    handle,
                                                    frame.text(path),
                                                    out))) {
                        return items.texts();
                    }
                });
    }

    /**
     * Returns the properties of an attribute.
     *
     * @param file the file
     * @param path the path of its object
     * @param name its name
     * @return the properties, or {@code null} if there is no such attribute
     */
    public static ArrayInfo attribute(NativeFile file, String path, String name) {
        return file.call(
                (handle, frame) -> {
                    Frame.Struct info = ArrayInfo.request(frame, false);
                    long code =
                            Library.call(
                                    Function.ATTRIBUTE_INFO,
                                    handle,
                                    frame.text(path),
                                    frame.text(name),
                                    info.address());
                    if (code == Library.ERROR_NOT_FOUND) {
                        return null;
                    }
                    Library.check(code, "look up " + of(path, name));
                    return ArrayInfo.of(info);
                });
    }

    /**
     * Reads an attribute.
     *
     * @param file the file
     * @param path the path of its object
     * @param name its name
     * @param type the code of the elements in memory
     * @param out direct memory for all elements
     * @param size the number of bytes of the elements
     */
    public static void readAttribute(
            NativeFile file, String path, String name, MemoryType type, ByteBuffer out, int size) {
        file.call(
                (handle, frame) -> {
                    long options = Datasets.options(frame, size, null);
                    long code =
                            Library.call(
                                    Function.ATTRIBUTE_READ,
                                    handle,
                                    frame.text(path),
                                    frame.text(name),
                                    type.code(),
                                    Library.NATIVE.address(out),
                                    options);
                    Library.check(code, "read " + of(path, name));
                    return null;
                });
        Reference.reachabilityFence(out);
    }

    /**
     * Creates or replaces an attribute.
     *
     * @param file the file
     * @param path the path of its object
     * @param name its name
     * @param message the datatype
     * @param shape the dimensions, none for a scalar
     * @param elements direct memory with the elements, as the datatype describes them
     * @param size the number of their bytes
     */
    public static void writeAttribute(
            NativeFile file,
            String path,
            String name,
            byte[] message,
            long[] shape,
            ByteBuffer elements,
            int size) {
        file.change(
                (handle, frame) -> {
                    long options = Datasets.options(frame, size, message);
                    long code =
                            Library.call(
                                    Function.ATTRIBUTE_WRITE,
                                    handle,
                                    frame.text(path),
                                    frame.text(name),
                                    MemoryType.MESSAGE.code(),
                                    shape.length,
                                    frame.longs(shape),
                                    Library.NATIVE.address(elements),
                                    options);
                    Library.check(code, "write " + of(path, name));
                    return null;
                });
        Reference.reachabilityFence(elements);
    }

    /**
     * Removes an attribute.
     *
     * @param file the file
     * @param path the path of its object
     * @param name its name
     */
    public static void deleteAttribute(NativeFile file, String path, String name) {
        file.change(
                (handle, frame) -> {
                    Library.check(
                            Library.call(
                                    Function.ATTRIBUTE_DELETE,
                                    handle,
                                    frame.text(path),
                                    frame.text(name)),
                            "delete " + of(path, name));
                    return null;
                });
    }

    /**
     * Reads texts or sequences that elements refer to.
     *
     * @param file the file
     * @param ids direct memory with the elements as they are stored, from its beginning, without
     *     gaps
     * @param size the number of bytes of all ids
     * @param pitch the number of bytes of an id
     * @param elementSize the bytes of an element of the sequences, 0 for texts
     * @return one item for each element
     */
    public static Items resolve(
            NativeFile file, ByteBuffer ids, int size, int pitch, int elementSize) {
        return file.call(
                (handle, frame) ->
                        items(
                                frame,
                                "read elements of variable length",
                                out ->
                                        Library.call(
                                                Function.RESOLVE,
                                                handle,
                                                Library.NATIVE.address(ids),
                                                size,
                                                pitch,
                                                0,
                                                elementSize,
                                                out)));
    }

    /** A call that fills items at an address. */
    interface Filling {
        long into(long items);
    }

    static Items items(Frame frame, String doing, Filling filling) {
        Frame.Struct struct = frame.struct(Items.SIZE);
        Library.check(filling.into(struct.address()), doing);
        return new Items(struct);
    }

    private static String of(String path, String attribute) {
        return attribute == null
                ? "'" + path + "'"
                : "the attribute '" + attribute + "' of '" + path + "'";
    }
}
