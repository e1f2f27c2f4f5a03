"""The progress of long work: functions, bars and lines, and how each ends."""

import signal
import sys
import types

import numpy as np
import pytest
from segy_files import CROSSLINE, INLINE, grid, segy
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("h5py has no progress", allow_module_level=True)


class Enough(Exception):
    pass


def dataset_file(path):
    with hs.File(path, "w") as file:
        file.create_dataset("d", data=np.arange(4000).reshape(100, 40), chunks=(1, 40), compression="gzip")
        for n in range(50):
            file.create_group(f"g{n}")
    return path


def table_file(path):
    with hs.File(path, "w") as file:
        file.create_table("t", obj=np.array([(n * 7 % 100,) for n in range(5000)], [("a", "i8")]))
    return path


def survey_file(path):
    lines = grid(range(20), range(15))
    samples = np.arange(300 * 5, dtype="f4").reshape(300, 5)
    path.write_bytes(segy(samples, {INLINE: lines[:, 0], CROSSLINE: lines[:, 1]}))
    return path


def check(folder, progress):
    return hs.check(dataset_file(folder / "d.h5"), data=True, progress=progress)


def check_of_a_file_object(folder, progress):
    with open(dataset_file(folder / "d.h5"), "rb") as file:
        return hs.check(file, progress=progress)


def references(folder, progress):
    return hs.references(dataset_file(folder / "d.h5"), progress=progress)


def create_index(folder, progress):
    with hs.File(table_file(folder / "t.h5"), "r+") as file:
        try:
            return file["t"].create_index("a", progress=progress)
        except BaseException:
            assert not file["t"].indexed, "nothing of the index is left"
            raise


def create_csindex(folder, progress):
    with hs.File(table_file(folder / "t.h5"), "r+") as file:
        return file["t"].create_csindex("a", progress=progress)


def ingest(folder, progress):
    return hs.segy.ingest(survey_file(folder / "s.sgy"), folder / "s.h5", progress=progress)


def export(folder, progress):
    hs.segy.ingest(survey_file(folder / "s.sgy"), folder / "s.h5")
    hs.segy.export(folder / "s.h5", folder / "back.sgy", progress=progress)
    return (folder / "back.sgy").read_bytes() == (folder / "s.sgy").read_bytes()


def consolidate(folder, progress):
    import dask.array

    array = dask.array.ones((40, 10), chunks=(10, 10))
    hs.dask.store(array, folder / "v.h5", "d", chunks=(5, 10))
    hs.dask.consolidate(folder / "v.h5", progress=progress)


WORK = [check, check_of_a_file_object, references, create_index, create_csindex, ingest, export, consolidate]


@pytest.mark.parametrize("work", WORK)
def test_a_function_is_told_what_is_done_until_all_is(work, tmp_path):
    told = []
    result = work(tmp_path, lambda done, total: told.append((done, total)))
    assert told and told == sorted(told)
    assert len({total for _, total in told}) == 1
    assert told[-1][0] == told[-1][1] > 0
    again = tmp_path / "again"
    again.mkdir()
    assert work(again, None) == result or work is references


@pytest.mark.parametrize("work", WORK)
def test_an_exception_of_the_function_ends_the_work_and_is_raised(work, tmp_path):
    told = []

    def progress(done, total):
        told.append(done)
        raise Enough

    with pytest.raises(Enough):
        work(tmp_path, progress)
    assert len(told) == 1, "the function is not called again"


@pytest.mark.parametrize("work", WORK)
def test_an_interrupt_while_the_function_runs_ends_the_work(work, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path, lambda done, total: signal.raise_signal(signal.SIGINT))


@pytest.mark.parametrize("wrong", [3, "yes", [1]])
def test_anything_but_a_function_or_a_truth_value_is_refused(wrong, tmp_path):
    with pytest.raises(TypeError, match="progress is True, None or a function"):
        check(tmp_path, wrong)


class Bar:
    """What the package uses of a bar of tqdm."""

    made = []

    def __init__(self, desc, unit, unit_scale, unit_divisor):
        self.desc, self.unit, self.n, self.total, self.is_closed = desc, unit, 0, None, False
        Bar.made.append(self)

    def update(self, more):
        assert more >= 0 and not self.is_closed
        self.n += more

    def close(self):
        self.is_closed = True


@pytest.fixture
def bars(monkeypatch):
    Bar.made = []
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    return Bar.made


@pytest.mark.parametrize("work", WORK)
def test_a_bar_of_tqdm_is_complete_and_closed_at_the_end(work, tmp_path, bars, capsys):
    work(tmp_path, True)
    assert len(bars) == 1
    assert bars[0].n == bars[0].total > 0 and bars[0].is_closed
    assert capsys.readouterr().err == ""


def test_a_bar_is_closed_when_the_work_fails(tmp_path, bars):
    path = tmp_path / "s.sgy"
    path.write_bytes(b"no survey")
    with pytest.raises(OSError):
        hs.segy.ingest(path, tmp_path / "s.h5", progress=True)
    assert [bar.is_closed for bar in bars] == [True]


def test_a_bar_that_raises_ends_the_work_and_is_closed(tmp_path, bars, monkeypatch):
    def interrupted(self, more):
        raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check(tmp_path, True)
    assert bars[0].is_closed


@pytest.fixture
def without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


def test_without_tqdm_lines_go_to_standard_error(tmp_path, without_tqdm, capsys):
    check(tmp_path, True)
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[-1].startswith(f"{tmp_path / 'd.h5'}: 100 % of ") and lines[-1].endswith(" bytes")
    assert "\r" not in said.err


def test_on_a_terminal_one_line_is_rewritten_and_ended(tmp_path, without_tqdm, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    create_index(tmp_path, True)
    said = capsys.readouterr().err
    assert said.startswith("\rindex of a: ") and said.endswith("100 % of 10,000 rows\n")
    with pytest.raises(ValueError):
        with hs.File(table_file(tmp_path / "u.h5"), "r+") as file:
            file["t"].create_index("a")
            file["t"].create_index("a", progress=True)
    assert capsys.readouterr().err in ("", "\n")


def test_false_and_none_show_nothing(tmp_path, bars, capsys):
    for progress in (None, False):
        check(tmp_path, progress)
    assert not bars and capsys.readouterr().err == ""
