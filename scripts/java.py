"""Builds hyperslab for Java, and tests it on each kind of Java: `scripts/java.py package`, `test` or `docs`.

The build needs a JDK of version 22 or later, which compiles for 17 too. The tests run on a JDK from 17 to 21,
which calls the native library by JNI, and on one of 22 or later, which calls it by java.lang.foreign (and by
JNI, if told to). In CI both are required; elsewhere the summary names the parts that were left out.
`JAVA_OLD` and `JAVA_NEW` name JDKs to use.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
JAVA = ROOT / "java"
FOLDERS = [*Path("/usr/lib/jvm").glob("*"), *Path("/opt").glob("*jdk*")]
FOREIGN = 22
"""The first version with java.lang.foreign."""
OLDEST = 17
HEAP = "-Xms1g -Xmx1g -XX:+AlwaysPreTouch"
"""A heap of a fixed size, so that a test can see native memory grow."""


def version(home: Path) -> int:
    """Returns the version of the JDK in a folder, or 0 if there is none."""
    if not (home / "bin" / "javac").exists():
        return 0
    text = (home / "release").read_text() if (home / "release").exists() else ""
    found = re.search(r'^JAVA_VERSION="(\d+)', text, re.MULTILINE)
    return int(found[1]) if found else 0


def find(variable: str, least: int, most: int) -> Path | None:
    """Returns the newest JDK of these versions."""
    given = os.environ.get(variable)
    homes = [Path(given)] if given else [home for home in FOLDERS if not home.is_symlink()]
    fitting = [home for home in homes if least <= version(home) <= most]
    return max(fitting, key=version, default=None)


def maven(home: Path, *arguments: str) -> str:
    """Runs Maven with a JDK and returns what it printed."""
    command = ["mvn", "--batch-mode", "--no-transfer-progress", "--file", str(JAVA / "pom.xml"), *arguments]
    environment = {**os.environ, "JAVA_HOME": str(home)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def test(new: Path, old: Path | None) -> list[str]:
    """Runs the tests on each JDK, and returns what was left out."""
    python = f"-Dpython={sys.executable}"
    runs = [(new, "java.lang.foreign", []), (new, "JNI", [f"-Dtest.arguments={HEAP} -Xcheck:jni -Dhyperslab.jni=true"])]
    if old:
        runs.insert(0, (old, "JNI", []))
    for home, binding, more in runs:
        arguments = [f"-Dtest.java={home}/bin/java", python, *more]
        if home == new and binding != "JNI":
            arguments.append(f"-Dtest.arguments={HEAP} --enable-native-access=ALL-UNNAMED")
        output = maven(new, "integration-test", *arguments)
        for line in output.splitlines():
            if line.startswith(("golden files:", "jHDF's")):
                print(f"  {line}")
        counts = re.findall(r"Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$", output, re.MULTILINE)
        print(f"Java {version(home)}, {binding}: {counts[-1]}", flush=True)
    return [] if old else [f"a JDK from {OLDEST} to {FOREIGN - 1}, so JNI was tested only on {version(new)}"]


def main() -> None:
    what = sys.argv[1]
    new = find("JAVA_NEW", FOREIGN, 10**6)
    old = find("JAVA_OLD", OLDEST, FOREIGN - 1)
    left_out = [] if new else [f"everything: no JDK of {FOREIGN} or later is in /usr/lib/jvm (JAVA_NEW names one)"]
    if new and what == "package":
        maven(new, "package", "-DskipTests")
    elif new and what == "docs":
        maven(new, "javadoc:javadoc")
    elif new:
        left_out = test(new, old)
    for each in left_out:
        print(f"left out: {each}")
    if left_out and "CI" in os.environ:
        sys.exit("in CI nothing may be left out")


if __name__ == "__main__":
    main()
