package io.github.hyperslab.api;

/** A node of a file that is open for writing. */
public interface WritableNode extends Node {
    /**
     * Adds an attribute, or replaces the one of that name.
     *
     * @param name the name
     * @param data an array or a value of numbers, truth values or strings
     * @return the attribute
     * @throws io.github.hyperslab.exceptions.HdfWritingException if the value has no datatype, or
     *     is no regular array
     */
    Attribute putAttribute(String name, Object data);

    /**
     * Adds an attribute of integers that may be unsigned, or replaces the one of that name.
     *
     * @param name the name
     * @param data an array or a value; of integers if they are to be unsigned
     * @param unsigned whether the integers are unsigned
     * @return the attribute
     * @throws io.github.hyperslab.exceptions.HdfWritingException if the value has no datatype, or
     *     is no regular array
     */
    Attribute putAttribute(String name, Object data, boolean unsigned);

    /**
     * Removes an attribute.
     *
     * @param name the name
     * @return the attribute with its value, or {@code null} if there was none
     */
    Attribute removeAttribute(String name);
}
