"""``crawl-once pairs`` as a user runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawler.commands.in_process import run
from tests.crawler.commands.lab_crawl import BASE, HOSTILE, edited, label_pair, make_lab_crawl

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lab_crawl(tmp_path_factory.mktemp("pairs") / "job")


def pairs(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    done = run("pairs", str(folder), "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_pairs_have_measures_and_what_differs(folder: Path) -> None:
    found = pairs(folder, "--diff")
    by_urls = {(one["first"]["url"], one["second"]["url"]): one for one in found}
    near = by_urls[f"{BASE}/a", f"{BASE}/one-word"]
    assert 0 <= near["distance"] <= 8
    assert 0.8 < near["similarity"] < 1
    assert near["label"] is None
    # Five of the word, the others of the titles.
    assert near["second"]["own_shingles"] == 7
    assert sum("changed" in shingle for shingle in near["second"]["own_shingles_first"]) == 5
    assert f"[-{edited().split()[100]}-] {{+changed+}}" in near["diff"]


def test_only_the_distances_that_are_asked_for_are_shown(folder: Path) -> None:
    everything = pairs(folder)
    wanted = sorted({one["distance"] for one in everything})
    assert len(wanted) > 1
    some = pairs(folder, "--distance", str(wanted[-1]))
    assert {one["distance"] for one in some} == {wanted[-1]}
    assert len(pairs(folder, "--limit", "1")) == 1


def test_nothing_of_a_hostile_page_reaches_the_terminal_as_a_command(
    folder: Path, tmp_path: Path
) -> None:
    text = f"{edited()} \x1b[31m \u202eevil\u2066 \x9b2J \x07"
    fields = {"url": "http://evil/\x1b[2J", "title": HOSTILE, "text": text}
    file = tmp_path / "pages.jsonl"
    file.write_text(json.dumps(fields))
    sources = (str(folder), str(file), "--diff", "--limit", "100")
    done = run("pairs", *sources)
    assert done.returncode == 0, done.stderr
    assert "http://evil/␛[2J" in done.stdout
    assert "{+␛[31m \\u202eevil\\u2066 \\x9b2J ␇+}" in done.stdout
    assert "␛]0;owned␇ title" in done.stdout
    assert done.stdout.replace("\n", "").isprintable()
    raw = run("pairs", *sources, "--json").stdout
    assert raw.replace("\n", "").isprintable()
    assert raw.isascii()


def test_pairs_are_read_by_people_too(folder: Path) -> None:
    lines = run("pairs", str(folder), "--limit", "1").stdout.splitlines()
    assert lines[0].startswith("   1  ")
    assert "bits, similarity 0." in lines[0]
    assert lines[1].startswith(f"      A  {BASE}/")
    assert any(line.startswith("      in A alone ") for line in lines[3:5])


def test_labels_show(tmp_path: Path) -> None:
    labelled = make_lab_crawl(tmp_path / "job")
    label_pair(labelled, (f"{BASE}/a", f"{BASE}/one-word"), is_duplicate=True)
    labels = [one["label"] for one in pairs(labelled)]
    assert sorted(filter(None, labels)) == ["duplicate"]
    assert "[duplicate]" in run("pairs", str(labelled)).stdout


def test_where_there_are_none_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two"}\n')
    done = run("pairs", str(path), "--distance", "3..5")
    assert (done.returncode, done.stdout) == (0, "no two distinct texts at 3..5 bits\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--distance", "12"), "--distance takes bits from 0 to 8"),
        (("--limit", "0"), "--limit takes a whole number of at least 1, got '0'"),
        (("--dif",), ""),
        (("--distanc=3", "--limti", "3"), "unknown option --limti; did you mean --limit?"),
    ],
)
def test_bad_option_is_named(folder: Path, arguments: tuple[str, ...], complaint: str) -> None:
    done = run("pairs", str(folder), *arguments)
    assert done.returncode == (2 if complaint else 0)
    assert complaint in done.stderr
