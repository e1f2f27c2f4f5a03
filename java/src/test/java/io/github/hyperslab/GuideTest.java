package io.github.hyperslab;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The programs of the guide run, with the jars and nothing else on the class path. */
class GuideTest {
    private static final Pattern PROGRAM =
            Pattern.compile("^```java\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern NAME = Pattern.compile("^public class (\\w+)", Pattern.MULTILINE);

    @TempDir private Path folder;

    @Test
    void programsRun() throws IOException, InterruptedException {
        Path guide = Path.of(System.getProperty("golden")).resolveSibling("../docs/guide/java.md");
        List<String> ran = new ArrayList<>();
        Matcher programs = PROGRAM.matcher(Files.readString(guide));
        while (programs.find()) {
            Matcher name = NAME.matcher(programs.group(1));
            name.find();
            Path source =
                    Files.writeString(folder.resolve(name.group(1) + ".java"), programs.group(1));
            Process process =
                    new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-Dhyperslab.native.dir="
                                            + System.getProperty("hyperslab.native.dir"),
                                    "-cp",
                                    jars(),
                                    source.toString())
                            .directory(folder.toFile())
                            .redirectErrorStream(true)
                            .start();
            String output = new String(process.getInputStream().readAllBytes());
            assertEquals(0, process.waitFor(), source.getFileName() + ": " + output);
            ran.add(name.group(1));
        }
        assertEquals(List.of("Planes", "Fast"), ran);
    }

    private static String jars() {
        String separator = System.getProperty("path.separator");
        List<String> jars = new ArrayList<>();
        for (String each : System.getProperty("java.class.path").split(separator)) {
            if (each.matches(".*[/\\\\]hyperslab-[^/\\\\]*\\.jar")) {
                jars.add(each);
            }
        }
        assertEquals(2, jars.size(), jars.toString());
        return String.join(separator, jars);
    }
}
