package io.github.hyperslab;

import java.lang.reflect.Array;
import java.util.Map;

/** Compares values of jHDF with those of this library. */
final class Values {
    private Values() {}

    /** Returns where two values differ, or {@code null} if they are equal. */
    static String difference(Object expected, Object found) {
        return difference(expected, found, "");
    }

    private static String difference(Object expected, Object found, String at) {
        if (expected == null || found == null) {
            return expected == found ? null : at + ": " + text(expected) + " and " + text(found);
        }
        if (expected instanceof Map<?, ?> members && found instanceof Map<?, ?> others) {
            if (!members.keySet().equals(others.keySet())) {
                return at + ": members " + members.keySet() + " and " + others.keySet();
            }
            for (Map.Entry<?, ?> member : members.entrySet()) {
                String difference =
                        difference(
                                member.getValue(),
                                others.get(member.getKey()),
                                at + "." + member.getKey());
                if (difference != null) {
                    return difference;
                }
            }
            return null;
        }
        if (expected.getClass() != found.getClass()) {
            return at
                    + ": "
                    + expected.getClass().getTypeName()
                    + " and "
                    + found.getClass().getTypeName();
        }
        if (!expected.getClass().isArray()) {
            return expected.equals(found)
                    ? null
                    : at + ": " + text(expected) + " and " + text(found);
        }
        if (Array.getLength(expected) != Array.getLength(found)) {
            return at
                    + ": "
                    + Array.getLength(expected)
                    + " and "
                    + Array.getLength(found)
                    + " elements";
        }
        for (int i = 0; i < Array.getLength(expected); i++) {
            String difference =
                    difference(Array.get(expected, i), Array.get(found, i), at + "[" + i + "]");
            if (difference != null) {
                return difference;
            }
        }
        return null;
    }

    private static String text(Object value) {
        return value instanceof String text ? '"' + text + '"' : String.valueOf(value);
    }
}
