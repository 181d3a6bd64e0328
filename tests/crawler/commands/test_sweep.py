"""``scrapy sweep`` as a user runs it."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawler.commands.in_process import run
from tests.crawler.commands.lab_crawl import BASE, make_lab_crawl
from tests.crawls.command import pages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lab_crawl(tmp_path_factory.mktemp("sweep") / "job")


def sweep(*arguments: str) -> dict[str, Any]:
    done = run("sweep", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def test_table_has_a_line_for_each_distance(folder: Path) -> None:
    done = run("sweep", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "8 pages"
    assert "word-1-log_count, at least 50 words, within 3 bits, candidates within 8" in lines[1]
    start = next(place for place, line in enumerate(lines) if line.lstrip().startswith("bits"))
    assert [line.split()[0] for line in lines[start + 1 : start + 10]] == list("012345678")


def test_json_holds_what_the_crawl_itself_found(folder: Path) -> None:
    found = sweep(str(folder), "--max-distance", "8")
    kept = [page for page in pages(folder) if page["text"] is not None]
    assert found["pages"] == 8
    assert (found["kept"], found["dropped"]) == (len(kept), 8 - len(kept))
    (line,) = found["lines"]
    # As far as candidates are looked for, and confirmed alike.
    assert (line["kept"], line["now_kept"], line["now_dropped"]) == (len(kept), 0, 0)
    assert found["evidence"]["basis"] == "jaccard"


def test_farther_out_more_is_dropped(folder: Path) -> None:
    lines = sweep(str(folder), "--min-similarity", "0.1")["lines"]
    assert [line["max_distance"] for line in lines] == list(range(9))
    dropped = [line["dropped"] for line in lines]
    assert dropped == sorted(dropped)
    assert dropped[-1] > dropped[0]
    assert all(line["kept"] + line["dropped"] == 8 for line in lines)


def test_candidates_are_looked_at_where_that_is_asked_for(folder: Path) -> None:
    near = sweep(str(folder), "--max-distance", "0")["lines"][0]
    with_candidates = sweep(str(folder), "--max-distance", "0", "--candidate-distance", "8")
    line = with_candidates["lines"][0]
    assert (line["max_distance"], line["candidate_distance"]) == (0, 8)
    assert line["layers"]["candidate"] > 0
    assert line["dropped"] == with_candidates["dropped"] > near["dropped"]
    lines = sweep(str(folder), "--candidate-distance", "1", "--max-distance", "0..2")["lines"]
    assert [line["candidate_distance"] for line in lines] == [1, 1, 2]


@pytest.mark.parametrize("method", ["minhash", "exact"])
def test_other_methods_have_one_line(folder: Path, method: str) -> None:
    found = sweep(str(folder), "--method", method)
    (line,) = found["lines"]
    assert found["method"] == method
    assert line["layers"]["simhash"] == 0
    if method == "exact":
        assert line["dropped"] == line["layers"]["payload"] + line["layers"]["text"] == 1
    assert "same bytes" in run("sweep", str(folder), "--method", method).stdout


def test_labels_speak_where_there_are_some(folder: Path) -> None:
    pair = ("--pair", f"{BASE}/a", f"{BASE}/one-word", "duplicate")
    assert run("label", str(folder), *pair).returncode == 0
    found = sweep(str(folder))
    assert (found["evidence"]["basis"], found["evidence"]["pairs"]) == ("labels", 1)
    assert "against 1 labelled pair\n" in run("sweep", str(folder)).stdout
    remove = ("--remove", f"{BASE}/a", f"{BASE}/one-word")
    assert run("label", str(folder), *remove).returncode == 0


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_plot_is_drawn(folder: Path, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / f"plot.{ending}"
    done = run("sweep", str(folder), "--plot", str(file))
    assert done.returncode == 0, done.stderr
    content = file.read_bytes()
    if ending == "png":
        assert content.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", content[16:24])
        assert width >= 1200
        assert height >= 500
    else:
        assert "max_distance 3" in content.decode()
        assert "Pages dropped" in content.decode()


def test_plot_of_nothing_to_compare_is_drawn_too(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "pages.jsonl").write_text('{"text": "one"}')
    file = tmp_path / "plot.svg"
    done = run("sweep", str(tmp_path / "pages.jsonl"), "--plot", str(file))
    assert done.returncode == 0, done.stderr
    assert "no two texts to compare" in file.read_text()


def test_several_sources_and_files_are_judged_together(folder: Path, tmp_path: Path) -> None:
    exported = tmp_path / "pages.jsonl"
    assert run("pages", str(folder), "-o", str(exported)).returncode == 0
    done = run("sweep", str(exported), "--json")
    alone = json.loads(done.stdout)
    assert "lines left out" in done.stderr
    both = sweep(str(folder), str(exported))
    assert both["pages"] == 8 + alone["pages"]
    # What the file repeats is dropped.
    assert both["kept"] == sweep(str(folder))["kept"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "what is to be looked at? Name a crawl directory"),
        (("nowhere",), "nowhere: no such file or directory"),
        (("DIR", "DIR"), "the same source is named twice"),
        (("DIR", "--max-distance", "3..9"), "bits from 0 to 8, like 3, 0..8 or 3,5, got '3..9'"),
        (("DIR", "--max-distance", "5..3"), "got '5..3'"),
        (("DIR", "--max-distnce", "3"), "unknown option --max-distnce; did you mean --max-dist"),
        (("DIR", "--method", "simhas"), "no such method; did you mean simhash?"),
        (("DIR", "--method", "exact", "--max-distance", "3"), "knows no distance"),
        (("DIR", "--method", "minhash", "--plot", "a.png"), "no distance; leave --plot out"),
        (("DIR", "--features", "word-3"), "--features must be written like word-3-set"),
        (("DIR", "--features", "word-3-se"), "--features must be written like word-3-set"),
        (("DIR", "--features", "word-40-set"), "--features size must be 1..16, got 40"),
        (("DIR", "--min-similarity", "2"), "--min-similarity must be 0..1, got 2.0"),
        (("DIR", "--min-words", "few"), "--min-words takes a whole number, got 'few'"),
        (("DIR", "--candidate-distance", "9"), "--candidate-distance must be 0..8, got 9"),
        (("DIR", "--plot", "plot.gif"), "its ending must be .png, .svg, .pdf"),
        (("DIR", "--plot", "nowhere/plot.png"), "no such directory: nowhere"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    folder: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    named = [str(folder) if word == "DIR" else word for word in arguments]
    done = run("sweep", *named)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_archive_without_a_page_says_why_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "junk.warc.gz"
    file.write_text("junk\n")
    done = run("sweep", str(file))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no page with a text in it" in done.stderr
    assert "damaged at byte 0" in done.stderr
