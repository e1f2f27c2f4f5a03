import io.jhdf.HdfFile;
import io.jhdf.api.Attribute;
import io.jhdf.api.Dataset;
import io.jhdf.api.Group;
import io.jhdf.api.Link;
import io.jhdf.api.Node;
import java.lang.reflect.Array;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Prints a line for each dataset and attribute that jHDF finds in a file: the path, and the elements or the error. */
public class Walk {
    public static void main(String[] args) {
        try (HdfFile file = new HdfFile(Paths.get(args[0]))) {
            walk(file);
        }
    }

    private static void walk(Group group) {
        print(group);
        for (Node child : group.getChildren().values()) {
            if (child instanceof Link) {
                System.out.println(child.getName() + "\tlink");
            } else if (child instanceof Group) {
                walk((Group) child);
            } else {
                print(child);
                if (child instanceof Dataset) {
                    line(child.getPath(), () -> ((Dataset) child).getData());
                }
            }
        }
    }

    private static void print(Node node) {
        System.out.println(node.getPath() + "\t" + node.getType());
        try {
            for (Map.Entry<String, Attribute> attribute : node.getAttributes().entrySet()) {
                line(node.getPath() + "@" + attribute.getKey(), () -> attribute.getValue().getData());
            }
        } catch (RuntimeException error) {
            System.out.println(node.getPath() + "\t! attributes " + error.getClass().getSimpleName());
        }
    }

    private static void line(String path, Callable<Object> read) {
        String found;
        try {
            found = text(read.call());
        } catch (Exception error) {
            found = "! " + error.getClass().getSimpleName();
        }
        System.out.println(path + "\t" + found);
    }

    private static String text(Object value) {
        if (value == null) {
            return "null";
        }
        List<String> parts = new ArrayList<>();
        if (value.getClass().isArray()) {
            for (int i = 0; i < Array.getLength(value); i++) {
                parts.add(text(Array.get(value, i)));
            }
        } else if (value instanceof Map) {
            ((Map<?, ?>) value).forEach((key, member) -> parts.add(key + "=" + text(member)));
        } else {
            return value.toString();
        }
        return "[" + String.join(",", parts) + "]";
    }
}
