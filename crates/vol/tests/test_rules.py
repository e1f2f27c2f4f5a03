"""Each rule by which a call is left to the native connector, and what is near it.

A case (`cases.py`, `held.py`, `files.py`, `cases.c`) prints the same natively and through the connector. The
rows say how many calls the connector takes over, and the reasons of those that it leaves: a rule that is left
out changes both the counts and, but for the rules about speed, what the case prints.
"""

import re
import subprocess

import pytest
from through import ALL_CALLS, COUNTED, HERE, PLUGINS, SAID, TESTED, TOOLS, Report, run

# Name of the case: reads taken over, reads left by reason; writes taken over, writes left by reason.
RULES = {
    "compact": (0, {"layout": 1}, 0, {"layout": 1}),
    "external": (0, {"layout": 2}, 0, {"layout": 1}),
    "virtual": (0, {"layout": 2}, 2, {}),
    "variable_length": (0, {"variable length or references": 2}, 0, None),
    "references": (0, {"variable length or references": 1}, 0, None),
    "skipped_filters": (1, {}, 1, {}),
    "optional_filter": (None, None, None, None),
    "filter_of_the_engine": (None, None, 0, {"filter": 2}),
    "missing_filter": (0, None, 0, {}),
    "core_driver": (0, {"open for writing": 1, "file driver": 1}, 0, {"file driver": 1}),
    "family_driver": (0, {"file driver": 1}, 0, {"file driver": 1}),
    "split_driver": (0, {"file driver": 1}, 0, {"file driver": 1}),
    "file_object": (0, {"file driver": 1}, 1, {}),
    "user_block": (1, {}, 1, {}),
    "swmr": (0, {"SWMR": 3}, None, None),
    "points": (0, {"irregular selection": 1}, 1, {}),
    "irregular": (0, {"irregular selection": 1}, 1, {}),
    "strided": (2, {}, 1, {}),
    "points_in_memory": (0, {"irregular selection": 1}, 1, {}),
    "other_shape_in_memory": (0, {"shape in memory": 1}, 1, {}),
    "written_from_gaps": (1, {}, 1, {"shape in memory": 1}),
    "beyond_the_extent": (1, {"irregular selection": 2, "open for writing": 2}, 1, {"irregular selection": 2}),
    "values_that_do_not_compress": (3, {"open for writing": 18}, 5, {"conversion": 3, "not possible": 10}),
    "lossy": (2, {"open for writing": 6}, 0, {"lossy filter": 6}),
    "no_filters": (1, {}, 0, {"no compression": 2}),
    "compounds": (1, None, 1, None),
    "texts": (1, {"conversion": 2}, 1, {}),
}
HELD = {
    "unflushed": (1, {"open for writing": 5}, 9, {}),
    "opened_twice": (0, {"open for writing": 4}, 4, {}),
    "parts_of_chunks": (1, {}, 2, {}),
    "direct_chunks": (1, {"open for writing": 2}, 6, {}),
    "grows_by_rows": (1, {"open for writing": 3}, 16, {}),
    "parts_of_new_chunks": (1, {"open for writing": 3}, 4, {}),
    "left_open": (1, {}, 1, {}),
    "closed_before_its_dataset": (1, {"open for writing": 1}, 2, None),
    "killed": (1, {}, 0, {}),
    "forked": (4, {}, 7, {}),
    "other_ways_to_look": (0, None, 4, None),
    "whole_over_part": (1, {}, 3, {}),
    "committed_datatype": (1, {"open for writing": 1}, 51, {}),
    "virtual_over_parts": (1, {"open for writing": 3}, 3, {"layout": 1}),
    "deleted": (1, {"open for writing": 2}, 2, {}),
    "resized_elsewhere": (1, {"open for writing": 1}, 4, {}),
    "grown_edges": (0, {"open for writing": 2}, 2, {}),
    "fill_and_allocation": (92, {"elements without a value": 4}, 72, {}),
    "swmr_begun": (0, {"SWMR": 2}, 1, {"SWMR": 1}),
    "zeros": (0, {"open for writing": 2}, 34, {}),
}
FILES = {
    "read_then_written": (4, {}, 5, {}),
    "renamed": (2, {}, 1, {"layout": 1}),
    "links_to_other_files": (2, {"other file": 1}, 2, {}),
    "asked_for_the_file": (2, {}, 3, {}),
    "two_files": (4, {}, 2, {}),
    "written_through_links": (1, {"open for writing": 2, "other file": 2}, 4, {"other file": 2}),
    "closed_files": (2, {"other file": 2}, 4, {}),
    "closed_first": (4, {"open for writing": 3}, 3, {}),
    "closed_then_forked": (1, {"file": 1}, 1, {}),
    "closed_before_the_link": (3, {"other file": 2}, 4, {}),
    "failing_opens": (0, {}, 1, {}),
    "new_files": (0, {}, 0, {}),
    "read_only": (2, {}, 1, {"file": 3}),
    "refreshed": (2, {"SWMR": 3}, 1, {}),
    "refreshed_through_a_link": (1, {"SWMR": 2, "other file": 1}, 1, {}),
}
IN_PYTHON = {"cases.py": RULES, "held.py": HELD, "files.py": FILES}
SMALL = "small"  # a case of rules with two rows
IN_C = {
    "plain": (3, {}, 1, {}),
    "transform_read": (0, {"transfer properties": 1}, 1, {}),
    "transform_write": (1, {}, 1, {"transfer properties": 1}),
    "conversion_callback": (0, {"transfer properties": 1, "conversion": 1}, 1, {}),
    "registered_conversion": (1, {"registered conversion": 1}, 1, {}),
    "checksums": (0, {"not possible": 1, "transfer properties": 1}, 0, {"no compression": 1}),
    "filter_callback": (0, {"transfer properties": 1}, 0, {"no compression": 1}),
    "edge_chunks": (1, {}, 0, {"layout": 1}),
    "undefined_fill": (0, {"elements without a value": 1}, 1, {}),
    "strided_memory": (2, {}, 1, {}),
    "multi": (3, {}, 1, {"conversion": 1, "layout": 1}),
    "block_of_memory": (1, {}, 1, {}),
    "delayed": (1, {"open for writing": 3}, 4, {}),
    "chunk_cache": (0, {"open for writing": 1}, 2, {}),
    "resized": (0, {"open for writing": 2}, 2, {}),
    "bitfields": (2, {"conversion": 1}, 2, {"conversion": 1}),
    "unusual_floats": (3, {"conversion": 6}, 2, {"conversion": 1}),
    "close_that_fails": (1, {}, 1, {"file": 2}),
    "library_closed": (1, {"open for writing": 1}, 3, {}),
    "no_memory": (1, {"irregular selection": 1}, 1, {"irregular selection": 1}),
    "printer": (1, {"open for writing": 1}, 2, {}),
    "silent_printer": (None, None, None, None),
    "group_stays_open": (1, {"open for writing": 1}, 2, {}),
    "no_errors_stay": (0, {}, 2, {}),
}


# A case takes about a second. One that waits for itself never ends.
PATIENCE = 60


def compare(command, name, tmp_path, expected, env):
    outputs = []
    for connector in (None, TESTED):
        folder = tmp_path / str(connector)
        folder.mkdir()
        report = tmp_path / "report" if connector else None
        done = run(command(folder), connector, report, check=False, cwd=folder, timeout=PATIENCE, env=env)
        assert done.returncode == 0, done.stderr[-2000:].decode()
        outputs.append(done.stdout)
    native, ours = outputs
    assert ours == native, f"{name}\n{ours.decode()}\nnative:\n{native.decode()}"
    said = Report.of(tmp_path / "report")
    if COUNTED:
        found = (said.taken["reads"], said.left["reads"], said.taken["writes"], said.left["writes"])
        same = all(wanted is None or wanted == have for wanted, have in zip(expected, found))
        assert same, f"{name}: {found}, and not {expected}"
    return said


def in_python(file, name):
    """Returns a function that returns the command of a case in a folder."""
    return lambda folder: ["python", HERE / file, name, folder]


FORGETS = pytest.mark.xfail(not COUNTED, reason="pass_through forgets the errors of an open")
CASES = [
    pytest.param(file, name, marks=[FORGETS] * (name in ("failing_opens", "new_files")))
    for file, cases in IN_PYTHON.items()
    for name in cases
]


@pytest.mark.parametrize(("file", "name"), CASES)
def test_in_python(file, name, tmp_path):
    compare(in_python(file, name), name, tmp_path, IN_PYTHON[file][name], ALL_CALLS)


@pytest.mark.parametrize("name", ["failing_opens", "new_files"])
def test_libhdf5_tries_the_plug_in_after_an_error(name, tmp_path):
    """With the folder of plug-ins only, libhdf5 opens files natively, and then asks the plug-ins."""
    outputs = []
    for env in ({}, {"HDF5_PLUGIN_PATH": str(PLUGINS)}):
        folder = tmp_path / str(len(env))
        folder.mkdir()
        outputs.append(run(in_python("files.py", name)(folder), cwd=folder, timeout=PATIENCE, env=env).stdout.decode())
    assert outputs[1] == outputs[0]


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """The program in C, compiled for libhdf5 1.14."""
    program = tmp_path_factory.mktemp("cases") / "cases"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([TOOLS / "h5cc1.14", *flags, "-o", program, HERE / "cases.c"], check=True)
    return program


@pytest.mark.parametrize("name", IN_C)
def test_in_c(name, program, tmp_path):
    compare(lambda folder: [program, name, folder / "f.h5"], name, tmp_path, IN_C[name], ALL_CALLS)


def test_small_calls_are_left_unless_all_are_wanted(tmp_path):
    for env, expected in (({}, (0, {"small": 2}, 1, {})), (ALL_CALLS, (2, {}, 1, {}))):
        folder = tmp_path / str(len(env))
        folder.mkdir()
        compare(in_python("cases.py", SMALL), SMALL, folder, expected, env)


def test_every_case_is_listed():
    for file, cases in IN_PYTHON.items():
        functions = re.findall(r"^def (\w+)\(folder\)", (HERE / file).read_text(), re.MULTILINE)
        assert set(functions) - {SMALL} == cases.keys(), file
    table = re.findall(r'\{"(\w+)", \1\}', (HERE / "cases.c").read_text())
    assert set(table) == set(IN_C)
    SAID.append(f"rules: {sum(map(len, IN_PYTHON.values())) + 1} cases in Python, {len(IN_C)} in C")
