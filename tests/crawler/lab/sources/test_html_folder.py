"""Folders of HTML files as sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.lab.sources.html_folder import MAX_BYTES
from crawler.lab.sources.several import open_source
from crawler.lab.sources.source import SourceError
from tests.crawler.lab.sources.reading import read_all, texts_of
from tests.crawler.pages.test_capture import LONG, OTHER, html

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved site: two texts in three files, with other files beside them."""
    saved = tmp_path / "saved site"
    (saved / "below").mkdir(parents=True)
    (saved / ".git").mkdir()
    (saved / "a.html").write_bytes(html(LONG, "First"))
    (saved / "below" / "B.HTM").write_bytes(html(OTHER, "Second"))
    (saved / "below" / "c.html?view=1").write_bytes(html(LONG, "First"))
    (saved / ".git" / "hidden.html").write_bytes(html(OTHER, "Hidden"))
    (saved / "style.css").write_text("html {}")
    (saved / "notes.html.txt").write_text("<p>no page")
    return saved


def test_each_html_file_is_a_page(folder: Path) -> None:
    source = open_source(folder)
    pages = read_all(source)
    assert [page.url for page in pages] == [
        (folder / "a.html").as_uri(),
        (folder / "below" / "B.HTM").as_uri(),
        (folder / "below" / "c.html?view=1").as_uri(),
    ]
    assert [page.title for page in pages] == ["First", "Second", "First"]
    assert pages[0].payload_digest == pages[2].payload_digest
    said = list(texts_of(source, pages))
    assert said[0] is not None
    assert LONG in said[0]
    assert (source.progress, source.notes) == (1, [])
    source.close()


def test_the_encoding_is_the_one_that_a_file_names(folder: Path) -> None:
    page = f"<meta charset=iso-8859-2><title>Łódź</title><p>{'żółw ' * 60}"
    (folder / "a.html").write_bytes(page.encode("iso-8859-2"))
    source = open_source(folder)
    assert read_all(source)[0].title == "Łódź"
    source.close()


def test_what_cannot_be_read_is_told(folder: Path) -> None:
    (folder / "a.html").unlink()
    (folder / "a.html").symlink_to(folder / "nowhere")
    with (folder / "huge.html").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    (folder / "empty.html").touch()
    source = open_source(folder)
    pages = read_all(source)
    assert [page.url.rpartition("/")[2] for page in pages] == [
        "empty.html",
        "B.HTM",
        "c.html%3Fview%3D1",
    ]
    assert pages[0].words == 0
    assert "files left out: 1: no files, or links that lead nowhere" in source.notes
    assert "files left out: 1: larger than 32 MiB" in source.notes
    assert len(source.notes) == 2
    source.close()


def test_a_folder_without_any_says_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(SourceError, match="no WARC files and no HTML files; a crawl directory"):
        open_source(tmp_path)
