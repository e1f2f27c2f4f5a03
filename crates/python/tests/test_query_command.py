"""The commands `hyperslab query` and `hyperslab sql`, against NumPy and the readers of pyarrow."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from support import hs
from test_tables import some_rows

pytestmark = pytest.mark.process

CODE = "import sys; from hyperslab._native import run_cli; sys.exit(run_cli(['hyperslab', *sys.argv[1:]]))"
CONDITION = "(temp > 305) & ((time < 0) | (id == 'XK4'))"


def run(*args, code=0):
    """Runs a command in a new process, and returns what it prints. It must end with this exit code."""
    words = [sys.executable, "-c", CODE, *map(str, args)]
    done = subprocess.run(words, capture_output=True, check=False, timeout=120)
    assert done.returncode == code, (done.returncode, done.stderr.decode())
    return done.stdout if code == 0 else done.stderr.decode()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("query") / "climate.h5"
    rows = some_rows(5000)
    rows["temp"][:3] = np.nan, np.inf, -np.inf
    with hs.File(path, "w") as file:
        file.create_table("readings", obj=rows, chunkshape=600, compression=hs.Blosc2("lz4"))
        file.create_table("2024/others", obj=rows[:10])
        file.create_table("2025/others", obj=rows[10:30])
        file.create_table("few", obj=rows[5:7])
        file["grid"] = np.zeros((3, 3))
        latin = np.array([(b"Z\xfcrich", 1), (b"Genf", 2)], [("town", "S6"), ("n", "i4")])
        file.create_table("latin", obj=latin)
    return path


@pytest.fixture(scope="module")
def rows(path):
    with hs.File(path) as file:
        return file["readings"].read()


def found(rows):
    return rows[(rows["temp"] > 305) & ((rows["time"] < 0) | (rows["id"] == b"XK4"))]


def test_the_number_of_rows_and_the_plan(path, rows):
    assert int(run("query", path, "/readings", "--count")) == 5000
    assert int(run("query", path, "/readings", CONDITION, "--count")) == len(found(rows)) > 0
    assert run("query", path, "/readings", CONDITION, "--explain").decode().startswith("scan of 5000 rows\n")


def test_rows_as_comma_separated_values(path, rows):
    text = run("query", path, "/readings", CONDITION, "--columns", "time,id,temp", "--format", "csv").decode()
    read = list(csv.DictReader(io.StringIO(text)))
    expected = found(rows)
    assert [int(row["time"]) for row in read] == expected["time"].tolist()
    assert [row["id"].encode() for row in read] == expected["id"].tolist()
    assert np.array_equal(np.array([row["temp"] for row in read], "f4"), expected["temp"])


def test_rows_as_json_with_null_for_what_json_has_not(path, rows):
    text = run("query", path, "/readings", "--format", "json", "--limit", 20).decode()
    read = [json.loads(line) for line in text.splitlines()]
    assert len(read) == 20 and [row["temp"] for row in read[:3]] == [None, None, None]
    for row, expected in zip(read, rows, strict=False):
        assert row["time"] == expected["time"] and row["info"]["level"] == expected["info"]["level"]
        assert row["grid"] == expected["grid"].tolist() and row["ok"] == bool(expected["ok"])


@pytest.mark.parametrize("name", ["arrow", "parquet"])
@pytest.mark.parametrize("is_piped", [True, False])
def test_rows_as_files_of_arrow_and_parquet(path, rows, tmp_path, name, is_piped):
    words = ["query", path, "/readings", CONDITION, "--columns", "id,temp,info/level", "--format", name]
    if is_piped:
        source = pa.py_buffer(run(*words))
    else:
        assert run(*words, "-o", tmp_path / "hot") == b""
        source = tmp_path / "hot"
    if name == "parquet":
        read = pyarrow.parquet.read_table(source)
    elif is_piped:
        read = pa.ipc.open_stream(source).read_all()
    else:
        read = pa.ipc.open_file(source).read_all()
    expected = found(rows)
    assert read.column_names == ["id", "temp", "info/level"]
    assert read["temp"].to_numpy().tobytes() == expected["temp"].tobytes()
    assert [text.encode() for text in read["id"].to_pylist()] == expected["id"].tolist()
    assert read["info/level"].to_pylist() == expected["info"]["level"].tolist()


def test_a_table_is_aligned_and_says_that_there_are_more_rows(path, rows):
    lines = run("query", path, "/readings", "--columns", "time,id", "--limit", 3).decode().splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["time", "id"],
        *([str(row["time"]), *([row["id"].decode()] if row["id"] else [])] for row in rows[:3]),
    ]
    assert lines[4:] == ["(more rows; --limit 0 prints all)"]
    count = len(run("query", path, "/readings", "--columns", "time").splitlines())
    assert count == 1 + 1000 + 1
    assert len(run("query", path, "/readings", "--columns", "time", "--limit", 0).splitlines()) == 1 + 5000
    assert len(run("query", path, "/readings", "--columns", "time", "--limit", 5000).splitlines()) == 1 + 5000
    none = ["query", path, "/readings", "time != time", "--columns", "time,id", "--format"]
    assert (
        run(*none, "csv") == b"time,id\n" and run(*none, "json") == b"" and len(run(*none, "table").splitlines()) == 1
    )


def test_texts_that_are_not_utf8(path):
    assert 'column "town", row 0: the text is not valid UTF-8' in run("query", path, "latin", code=1)
    read = pa.ipc.open_stream(run("query", path, "latin", "--binary", "--format", "arrow")).read_all()
    assert read["town"].to_pylist() == [b"Z\xfcrich", b"Genf"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["/readings", "tmp > 3"], 1, "tmp"),
        (["/readings", "temp >"], 1, "temp >"),
        (["/readings", "--columns", "time,nothing"], 1, 'column "nothing": it must be one of time, temp'),
        (["/grid"], 1, "grid"),
        (["/nothing"], 1, "nothing"),
        (["/readings", "--format", "csv"], 1, "CSV has no nested columns"),
        (["/readings", "--count", "--columns", "time"], 2, "cannot be used with"),
        (["/readings", "--limit=-1"], 2, "--limit"),
        (["/readings", "--format", "xlsx"], 2, "possible values"),
    ],
)
def test_what_makes_no_sense_is_named(path, words, code, message):
    assert message in run("query", path, *words, code=code)


def test_a_file_is_replaced_only_when_it_is_complete(path, tmp_path):
    out = tmp_path / "out"
    out.write_text("old")
    run("query", path, "latin", "--format", "csv", "-o", out, code=1)
    assert out.read_text() == "old" and [file.name for file in tmp_path.iterdir()] == ["out"]
    run("query", path, "latin", "--format", "csv", "--columns", "n", "-o", out)
    assert out.read_text() == "n\n1\n2\n"
    assert "no-folder" in run("query", path, "latin", "--columns", "n", "-o", tmp_path / "no-folder" / "out", code=1)


def test_a_closed_pipe_ends_the_command_quietly(path):
    words = [sys.executable, "-c", CODE, "query", str(path), "/readings", "--format", "json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(60)


def test_statements_of_sql(path, rows):
    statement = "select id, avg(temp) as mean, count(*) as n from readings where temp < 400 group by id order by id"
    read = pa.ipc.open_stream(run("sql", path, statement, "--format", "arrow")).read_all().to_pydict()
    kept = rows[rows["temp"] < 400]
    kept = kept[np.isfinite(kept["temp"])]
    below = rows[rows["temp"] == -np.inf]
    assert [text.encode() for text in read["id"]] == sorted(set(kept["id"].tolist()))
    for text, mean, count in zip(read["id"], read["mean"], read["n"], strict=True):
        of_text = kept["temp"][kept["id"] == text.encode()].astype("f8")
        lowest = below["id"].tolist().count(text.encode())
        assert count == len(of_text) + lowest
        assert mean == (-np.inf if lowest else pytest.approx(of_text.mean()))


def test_tables_of_one_name_are_told_apart_by_their_paths(path):
    message = run("sql", path, "select count(*) from others", code=1)
    assert 'others is the name of 2 tables: write one of "/2024/others", "/2025/others"' in message
    for name, count in (("/2024/others", 10), ("2025/others", 20)):
        text = run("sql", path, f'select count(*) as n from "{name}"', "--format", "csv").decode()
        assert text == f"n\n{count}\n"
    joined = 'select count(*) as n from "/2024/others" a join readings b on a.time = b.time'
    assert run("sql", path, joined, "--format", "csv").decode() == "n\n10\n"


def test_only_tables_that_a_statement_reads_are_looked_for(path):
    for statement, count in (
        ('select count(others.time) as n from "/2024/others" others', 10),
        ("select count(*) as n from few where id != 'others'", 2),
        ('select count(*) as n, max(time) as others from "/2025/others"', 20),
        ("with others as (select 1 as a) select count(*) as n from others, few", 2),
        ("select count(*) as n from FEW a join few b using (time)", 2),
        ("create temp table others as from few limit 1; select count(*) as n from others, few", 2),
    ):
        text = run("sql", path, statement, "--format", "csv").decode()
        assert text.splitlines()[1].split(",")[0] == str(count), statement


@pytest.mark.parametrize("name", ["file", "path", "re"])
def test_variables_of_python_are_no_tables(path, name):
    assert f"Table with name {name} does not exist" in run("sql", path, f"select * from {name}", code=1)


def test_an_error_of_sql_has_lines(path):
    lines = run("sql", path, "select 1 frm x y", code=1).splitlines()
    assert "syntax error" in lines[0] and "LINE 1: select 1 frm x y" in lines and lines[-1].strip() == "^"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("selekt 1", "syntax error"),
        ("select nothing from readings", "nothing"),
        ("select * from missing", "missing"),
    ],
)
def test_statements_that_fail(path, statement, message):
    assert message in run("sql", path, statement, code=1)


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("create table hot as select * from readings", "CREATE"),
        ("create view hot as select * from readings", "CREATE"),
        ("copy (select 1) to 'x.csv'", "COPY"),
        ("explain analyze copy (select 1) to 'x.csv'", "COPY"),
        ("attach 'x.db'; select 1", "ATTACH"),
        ("select 1; insert into readings select * from readings", "INSERT"),
        ("export database 'x'", "EXPORT"),
        ("delete from readings", "DELETE"),
        ("copy (pivot (select 1 as a) on a) to 'x.csv'", "COPY"),
        ("set Log_Query_Path = 'x.sql'; select 1", "Log_Query_Path"),
        ("pragma profiling_output='x.json'; select 1", "profiling_output"),
        ("set enable_profiling='json'; set session profile_output = 'x.json'; select 1", "profile_output"),
        ("begin; select 1; commit", "BEGIN"),
    ],
)
def test_statements_that_would_write_are_refused_before_any_runs(path, statement, word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    message = run("sql", path, statement, code=1)
    assert f"{word} is refused" in message and "`-o FILE`" in message
    assert sorted(tmp_path.iterdir()) == before


def test_statements_that_read_are_taken(path):
    for statement in (
        "explain select * from readings",
        "explain analyze select count(*) from readings",
        "from few select count(*) as n",
        "pivot (select 1 as a, 2 as b) on a using sum(b)",
        "set threads = 1; describe readings",
        "pragma version",
        "values (1)",
    ):
        assert run("sql", path, statement, "--format", "csv"), statement
    assert "end with a query" in run("sql", path, "create temp table hot as from few", code=1)
    assert "end with a query" in run("sql", path, "set threads = 1", code=1)


@pytest.mark.damages
def test_sql_names_a_bad_file_as_other_commands_do(path, tmp_path):
    cut = tmp_path / "cut.h5"
    cut.write_bytes(path.read_bytes()[:3000])
    for file in (tmp_path / "none.h5", cut):
        assert run("sql", file, "select 1", code=1) == run("ls", file, code=1)


def test_sql_says_how_to_get_duckdb(path):
    code = "import sys; sys.modules['duckdb'] = None; " + CODE
    words = [sys.executable, "-c", code, "sql", str(path), "select 1"]
    done = subprocess.run(words, capture_output=True, check=False, timeout=120)
    assert done.returncode == 1 and b"pip install duckdb" in done.stderr and b"Traceback" not in done.stderr
