"""The folder of a run: what it replaces, and what it leaves alone."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from neardup.batch.corpus_task import CorpusTask
from neardup.batch.input_files import Fields, File, InputOptions, find_files
from neardup.batch.output_tables import About
from neardup.corpus.corpus_tables import Checkpoint, RunFolder, earlier_runs, outside_of, read_about
from neardup.errors import InputError
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from pathlib import Path


def write_run(target: Path, run: str, *, overwrite: bool = False) -> None:
    with closing(RunFolder(target, overwrite=overwrite)) as folder:
        folder.write({}, Checkpoint("task", run, files=1))
        folder.wait()
        folder.finish(About(run, "in", DEFAULTS, 0, 1, (), (), {}))


def test_a_run_replaces_an_earlier_one_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write_run(tmp_path / "out", "first")
    with pytest.raises(InputError, match="exists; --overwrite replaces it"):
        write_run(tmp_path / "out", "second")
    write_run(tmp_path / "out", "second", overwrite=True)
    assert read_about(tmp_path / "out").run == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["about"]


def test_a_folder_behind_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    for run in ("first", "second"):
        write_run(tmp_path / "link", run, overwrite=True)
        assert read_about(tmp_path / "disk").run == run
    assert (tmp_path / "link").is_symlink()


def test_a_folder_with_a_file_of_the_user_is_not_replaced(tmp_path: Path) -> None:
    write_run(tmp_path / "out", "first")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt: is of no run"):
        write_run(tmp_path / "out", "second", overwrite=True)
    assert read_about(tmp_path / "out").run == "first"


def test_a_run_that_was_killed_while_it_replaced_another_goes_on(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write_run(target, "first")
    with closing(RunFolder(target, overwrite=True)) as folder:
        folder.write({}, Checkpoint("task", "second", files=1))
        folder.wait()
        # What a kill behind the first of two renames leaves.
        target.rename(folder.path / "work-replaced")
    with closing(RunFolder(target, overwrite=False)) as folder:
        assert folder.read_progress() == Checkpoint("task", "second", files=1)
        folder.finish(About("second", "in", DEFAULTS, 0, 1, (), (), {}))
    assert read_about(target).run == "second"
    assert [path.name for path in target.iterdir()] == ["about"]


def test_a_damaged_output_is_one_line(tmp_path: Path) -> None:
    write_run(tmp_path / "out", "first")
    (about,) = (tmp_path / "out" / "about").iterdir()
    about.write_bytes(b"")
    with pytest.raises(InputError, match="damaged"):
        read_about(tmp_path / "out")


def test_tables_in_the_folder_of_the_input_are_no_input(tmp_path: Path) -> None:
    names = ("a.jsonl", "out.jsonl", "out/kept/0.parquet", "out.unfinished-run/progress.json")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = outside_of(tmp_path / "out", find_files(str(tmp_path)))
    assert [file.path for file in found] == [str(tmp_path / name) for name in names[:2]]


@pytest.mark.parametrize("name", ["a%41b", "a#b", "a?b"])
def test_an_earlier_run_is_found_whatever_its_folder_is_called(tmp_path: Path, name: str) -> None:
    write_run(tmp_path / name, "first")
    second = About("second", "in", DEFAULTS, 1, 2, (f"file:{tmp_path / name}",), ("first",), {})
    with closing(RunFolder(tmp_path / "second", overwrite=False)) as folder:
        folder.write({}, Checkpoint("task", "second", files=1))
        folder.finish(second)
    found = earlier_runs(tmp_path / "second", CorpusTask("in", []))
    assert found.folders == (tmp_path / name, tmp_path / "second")


WARC_FILE = [File("a.warc", "warc", 1)]
ROWS_FILE = [File("a.csv", "csv", 1)]


def reading(files: list[File], extractor: str | None = None, *languages: str) -> CorpusTask:
    return CorpusTask("in", files, options=InputOptions(Fields(), extractor, languages))


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (reading(WARC_FILE), reading(WARC_FILE, "blocks"), None),
        (reading(WARC_FILE, "trafilatura"), reading(ROWS_FILE), None),
        (reading(ROWS_FILE, None, "en", "de-AT"), reading(ROWS_FILE, None, "de-at", "eng"), None),
        (reading(WARC_FILE), reading(WARC_FILE, "trafilatura"), "extractor blocks, now it is traf"),
        (reading(ROWS_FILE), reading(ROWS_FILE, None, "en"), "--language any, now it is en"),
        (
            reading(ROWS_FILE, None, "de", "en"),
            reading(ROWS_FILE, None, "en"),
            "language de,en, now",
        ),
    ],
)
def test_what_was_read_otherwise_is_not_gone_on_from(
    tmp_path: Path, before: CorpusTask, now: CorpusTask, said: str | None
) -> None:
    with closing(RunFolder(tmp_path / "first", overwrite=False)) as folder:
        folder.write({}, Checkpoint("task", "first", files=1))
        folder.finish(About("first", "in", DEFAULTS, 0, 1, (), (), {}, reading=before.reading))
    assert read_about(tmp_path / "first").reading == before.reading
    if said is None:
        found = earlier_runs(tmp_path / "first", now)
        # What rows go on from may be of an extractor, and so is what goes on from them.
        extractors = {now.reading.extractor, before.reading.extractor} - {None}
        assert {now.reading.after(found.reading).extractor} == (extractors or {None})
    else:
        with pytest.raises(InputError, match=said):
            earlier_runs(tmp_path / "first", now)
