"""``crawl-once sweep`` as a user runs it."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.lab.labels import remove_label
from neardup import Parameters
from tests.crawler.commands.in_process import run
from tests.crawler.commands.lab_crawl import BASE, label_pair, make_lab_crawl
from tests.crawler.pages.test_revisits import OPTIONS
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


def test_table_has_a_line_for_each_similarity_where_it_confirms(folder: Path) -> None:
    done = run("sweep", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "8 pages"
    assert lines[1] == (
        "holds:  word-1-log_count, at least 50 words, within 3 bits or found by MinHash, "
        "confirmed by similarity 0.8, names decide"
    )
    start = next(place for place, line in enumerate(lines) if "similarity  kept" in line)
    bounds = "0.5 0.55 0.6 0.65 0.7 0.75 0.8 0.85 0.9 0.95 1".split()
    rows = [line.split() for line in lines[start + 1 : start + 12]]
    assert [row[0] for row in rows] == bounds
    assert [row[0] for row in rows if row[-1] == "holds"] == ["0.8"]


def test_table_has_a_line_for_each_distance_where_nothing_confirms(tmp_path: Path) -> None:
    alone = replace(OPTIONS, parameters=Parameters(verify=False))
    folder = make_lab_crawl(tmp_path / "job", alone)
    lines = run("sweep", str(folder)).stdout.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("bits  kept"))
    rows = [line.split() for line in lines[start + 1 : start + 10]]
    assert [row[0] for row in rows] == list("012345678")
    assert [row[0] for row in rows if row[-1] == "holds"] == ["3"]
    done = run("sweep", str(folder), "--min-similarity", "0.7")
    assert (done.returncode, "confirms nothing where distance alone decides" in done.stderr) == (
        2,
        True,
    )


def test_json_holds_what_the_crawl_itself_found(folder: Path) -> None:
    found = sweep(str(folder), "--max-distance", "8")
    kept = [page for page in pages(folder) if page["text"] is not None]
    assert found["pages"] == 8
    assert (found["kept"], found["dropped"]) == (len(kept), 8 - len(kept))
    (line,) = found["lines"]
    # As far as candidates are looked for, and confirmed alike.
    assert (line["kept"], line["now_kept"], line["now_dropped"]) == (len(kept), 0, 0)
    assert found["evidence"]["basis"] == "jaccard"


def test_the_less_similarity_is_asked_for_the_more_is_dropped(folder: Path) -> None:
    found = sweep(str(folder), "--min-similarity", "0.7,0.8..1", "--no-compare-names")
    assert found["varied"] == "min_similarity"
    bounds = [line["min_similarity"] for line in found["lines"]]
    assert bounds == [0.7, 0.8, 0.85, 0.9, 0.95, 1]
    dropped = [line["dropped"] for line in found["lines"]]
    assert dropped == sorted(dropped, reverse=True)
    assert (dropped[0], dropped[-1]) == (4, 1)
    assert all(line["kept"] + line["dropped"] == 8 for line in found["lines"])


def test_distance_names_the_layer_where_similarity_confirms(folder: Path) -> None:
    options = ("--max-distance", "0..8", "--min-similarity", "0.1", "--no-compare-names")
    found = sweep(str(folder), *options)
    lines = found["lines"]
    assert found["varied"] == "max_distance"
    assert [line["max_distance"] for line in lines] == list(range(9))
    assert len({line["dropped"] for line in lines}) == 1
    assert found["evidence"]["suggestion"] is None
    said = run("sweep", str(folder), *options).stdout.splitlines()[-1]
    assert said.endswith("keep and drop the same, so that the choice changes nothing")
    by_layer = [(line["layers"]["simhash"], line["layers"]["candidate"]) for line in lines]
    assert (by_layer[0], by_layer[-1]) == ((0, 3), (3, 0))
    assert by_layer == sorted(by_layer, key=lambda of: of[0])
    assert all(line["kept"] + line["dropped"] == 8 for line in lines)


def test_names_decide_unless_that_is_switched_off(folder: Path) -> None:
    with_names = sweep(str(folder), "--max-distance", "3")["lines"][0]
    without = sweep(str(folder), "--max-distance", "3", "--no-compare-names")["lines"][0]
    assert (with_names["compare_names"], without["compare_names"]) == (True, False)
    assert without["layers"]["same_template"] == 0
    assert without["dropped"] >= with_names["dropped"]


def test_equality_alone_has_one_line(folder: Path) -> None:
    found = sweep(str(folder), "--method", "exact")
    (line,) = found["lines"]
    assert found["method"] == "exact"
    assert line["dropped"] == line["layers"]["payload"] + line["layers"]["text"] == 1
    assert "same bytes" in run("sweep", str(folder), "--method", "exact").stdout


def test_labels_speak_where_there_are_some(folder: Path) -> None:
    pair = label_pair(folder, (f"{BASE}/a", f"{BASE}/one-word"), is_duplicate=True)
    found = sweep(str(folder))
    assert (found["evidence"]["basis"], found["evidence"]["pairs"]) == ("labels", 1)
    assert "precision, recall: of 1 labelled pair within" in run("sweep", str(folder)).stdout
    by_distance = run("sweep", str(folder), "--max-distance", "3").stdout
    assert "against 1 labelled pair\n" in by_distance
    remove_label([folder], *pair)


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
        assert "similarity tried" in content.decode()
        assert "$" not in content.decode()


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
    assert done.stderr.startswith(f"{exported}: no crawl directory, so that a temporary crawl is")
    both = sweep(str(folder), str(exported))
    assert both["pages"] == 8 + alone["pages"]
    # What the file repeats is dropped.
    assert both["kept"] == sweep(str(folder))["kept"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "nothing to look at is named: give a crawl directory"),
        (("nowhere",), "nowhere: no such file or directory"),
        (("DIR", "DIR"), "the same source is named twice"),
        (("DIR", "--max-distance", "3..9"), "bits from 0 to 8, like 3, 0..8 or 3,5, got '3..9'"),
        (("DIR", "--max-distance", "5..3"), "the smaller one comes first: 3..5"),
        (("DIR", "--max-distnce", "3"), "unknown option --max-distnce; did you mean --max-dist"),
        (("DIR", "--method", "simhas"), "no such method; did you mean simhash?"),
        (("DIR", "--method", "exact", "--max-distance", "3"), "has neither distance nor"),
        (("DIR", "--method", "exact", "--plot", "a.png"), "nor similarity; leave --plot out"),
        (
            ("DIR", "--max-distance", "1..2", "--min-similarity", "0.1,1"),
            "not of both",
        ),
        (("DIR", "--min-similarity", "0.8..0.5"), "the smaller one comes first: 0.5..0.8"),
        (("DIR", "--min-similarity", "nan"), "from 0 to 1, like 0.8, 0.5..1 or 0.7,0.8, got"),
        (("DIR", "--features", "word-3"), "--features must be written like word-3-set"),
        (("DIR", "--features", "word-3-se"), "--features must be written like word-3-set"),
        (("DIR", "--features", "word-40-set"), "--features size must be 1..16, got 40"),
        (("DIR", "--min-similarity", "2"), "--min-similarity takes similarities from 0 to 1"),
        (("DIR", "--min-words", "few"), "--min-words must be a whole number, got 'few'"),
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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no page with a text in it"),
        ("junk\n", "no crawl could be made of it, see above"),
    ],
)
def test_archive_without_a_page_says_why_there_is_none(
    content: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "junk.warc.gz"
    file.write_text(content)
    done = run("sweep", str(file))
    assert done.returncode == 2
    assert done.stderr.endswith(f"{file}: {said}\n")
