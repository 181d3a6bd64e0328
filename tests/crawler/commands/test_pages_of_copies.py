"""``--text all``: duplicates have a text, and say whose it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from neardup import Parameters
from tests.crawler.commands.in_process import run
from tests.crawler.commands.test_pages import read
from tests.crawler.maintenance.rejudge.captured import Said, capture
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

TEXT = prose("a", 200)
NEAR = TEXT + " And one word more"
ORIGIN = "http://example.com"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page, its copy byte for byte, the same text in other bytes, and a near text."""
    jobdir = tmp_path_factory.mktemp("crawl") / "job"
    said = [("/a", Said(TEXT)), ("/same", Said(TEXT)), ("/text", Said(TEXT, "menu")),
            ("/near", Said(NEAR))]  # fmt: skip
    capture(jobdir, said, Parameters())
    return jobdir


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_duplicates_have_the_text_that_is_stored(folder: Path, tmp_path: Path, kind: str) -> None:
    output = tmp_path / f"pages.{kind}"
    done = run("pages", str(folder), "--text", "all", "-o", str(output))
    assert done.returncode == 0, done.stderr
    rows = {row["url"].removeprefix(ORIGIN): row for row in read(output)}
    assert {path: row["text"] for path, row in rows.items()} == {
        "/a": TEXT, "/same": TEXT, "/text": TEXT, "/near": NEAR,
    }  # fmt: skip
    assert {path: row["text_of"].removeprefix(ORIGIN) for path, row in rows.items()} == {
        "/a": "/a", "/same": "/a", "/text": "/a", "/near": "/near",
    }  # fmt: skip
    assert [row["verdict"] for row in rows.values()].count("new") == 1


def test_without_it_nothing_changes(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "pages.jsonl"
    run("pages", str(folder), "-o", str(output))
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["url"] for row in rows if row["text"]] == [f"{ORIGIN}/a"]
    assert not any("text_of" in row for row in rows)


def test_documents_of_duplicates(folder: Path, tmp_path: Path) -> None:
    done = run("pages", str(folder), "--text", "all", "-o", f"{tmp_path}/", "--format", "text")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.rglob("*.txt"))) == 4


def test_a_misspelt_choice_is_told(folder: Path) -> None:
    done = run("pages", str(folder), "--text", "al")
    assert done.returncode == 2
    assert "--text al: no such choice; did you mean all?" in done.stderr
