"""``crawl-once pages`` and Ctrl-C: what was written is whole and told, and nothing else is left."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.pages.page_row import COLUMNS
from neardup import Parameters
from tests.crawler.commands.test_verify import press_ctrl_c
from tests.crawler.maintenance.rejudge.captured import Said, capture
from tests.crawls.command import start_scrapy
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 50_000
_OTHERS = {"id": "value", "key": "randomblob(16)", "url": "url || '/' || value"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of so many pages that an export is under way when it is looked at."""
    jobdir = tmp_path_factory.mktemp("crawl") / "job"
    capture(jobdir, [("/page", Said(prose("page", 300)))], Parameters())
    values = ", ".join(_OTHERS.get(name, f"pages.{name}") for name in COLUMNS)
    numbers = f"numbers(value) AS (SELECT 2 UNION ALL SELECT value + 1 FROM numbers LIMIT {PAGES})"
    with closing(sqlite3.connect(jobdir / "crawl.db")) as connection:
        connection.execute(
            f"WITH RECURSIVE {numbers} INSERT INTO pages SELECT {values}, 0 FROM pages, numbers"
        )
        connection.commit()
    return jobdir


def test_files_that_are_written_are_whole_and_counted(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start_scrapy("pages", str(folder), "-o", f"{out}/")
    wait_until(lambda: len(list(out.rglob("*.md"))) > 50, process)
    errors = press_ctrl_c(process)
    assert process.returncode == 130
    said = re.fullmatch(
        rf"scrapy pages: interrupted: ([\d,]+) files written to {re.escape(str(out))}/, "
        r"each of them whole; run the command again for the others\n",
        errors,
    )
    assert said is not None, errors
    files = [path for path in out.rglob("*") if path.is_file()]
    count = int(said[1].replace(",", ""))
    # One may be there that was not counted yet.
    assert count <= len(files) <= count + 1 < PAGES
    assert {path.suffix for path in files} == {".md"}
    assert not any(path.name.startswith(".") for path in files)
    last = prose("page", 300).split()[-1]
    assert all(path.read_text().endswith(f"{last}\n") for path in files)


@pytest.mark.parametrize("name", ["pages.md", "pages.jsonl", "pages.parquet"])
def test_one_file_is_there_whole_or_not_at_all(folder: Path, tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    before = b"of an earlier export"
    (tmp_path / name).write_bytes(before)
    process = start_scrapy("pages", str(folder), "-o", str(tmp_path / name))
    wait_until(lambda: any(path.stat().st_size for path in tmp_path.glob(".*")), process)
    errors = press_ctrl_c(process)
    assert process.returncode == 130
    assert errors == f"scrapy pages: interrupted; nothing was written to {tmp_path / name}\n"
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == before


def test_standard_output_ends_with_one_line_on_the_other(folder: Path) -> None:
    process = start_scrapy("pages", str(folder), "--format", "text")
    assert process.stdout is not None
    assert process.stdout.readline()
    errors = press_ctrl_c(process)
    assert process.returncode == 130
    assert errors == "scrapy pages: interrupted\n"
