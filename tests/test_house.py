"""The gate: three numbers of the house that may only fall."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.house import House, asks_pages, complaint, count, pin, pinned

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = House(lines=1000, modules=10, files_that_ask_pages=5)


def test_no_number_of_the_house_rises() -> None:
    assert not complaint(count(), pinned())


def test_every_language_and_each_module_is_counted_once(tmp_path: Path) -> None:
    folder = tmp_path / "neardup" / "room"
    folder.mkdir(parents=True)
    (folder.parent / "link").symlink_to(folder)
    for name in ["a.py", "b.pyx", "c.c", "d.lua", "e.js", "f.css", "g.html", "h.txt", "b.c"]:
        (folder / name).write_text("one\ntwo")
    assert count(tmp_path) == House(lines=14, modules=3, files_that_ask_pages=0)


@pytest.mark.parametrize(
    ("source", "asks"),
    [
        ('db.execute("SELECT id FROM pages WHERE id = ?")', True),
        ('_SQL = f"SELECT {COLUMNS} FROM x JOIN\\n pages USING (id)"', True),
        ('_SQL = "INSERT INTO crawl.pages VALUES (?)"', True),
        ('_INDEX = "CREATE INDEX i ON pages (url)"', True),
        ('"""Read rows FROM pages."""', False),
        ("x = 1  # FROM pages", False),
        ('_SQL = "SELECT id FROM pages_of_hosts"', False),
        ('print("numbers of pages")', False),
    ],
)
def test_sql_that_names_the_table_is_found(source: str, asks: bool) -> None:
    assert asks_pages(source.encode()) == asks


class TestPins:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        file = tmp_path / "pinned.json"
        file.write_text('{"lines": 1000, "modules": 10, "files_that_ask_pages": 5}')
        return file

    def test_a_number_that_fell_is_pinned(self, file: Path) -> None:
        pin(replace(BEFORE, lines=990), file)
        assert pinned(file) == replace(BEFORE, lines=990)

    def test_a_number_that_rose_is_refused_whatever_else_fell(self, file: Path) -> None:
        with pytest.raises(SystemExit, match=r"modules: 12, 2 above the 10 that are pinned\nWhat"):
            pin(House(lines=1, modules=12, files_that_ask_pages=5), file)
        assert pinned(file) == BEFORE

    def test_a_complaint_names_only_what_rose(self) -> None:
        assert not complaint(replace(BEFORE, lines=999), BEFORE)
        words = complaint(replace(BEFORE, files_that_ask_pages=6, modules=9), BEFORE)
        assert words.startswith("files that ask pages: 6, 1 above the 5 that are pinned\n")
