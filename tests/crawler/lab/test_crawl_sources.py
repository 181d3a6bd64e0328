"""Several crawl directories as one source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.lab.crawl_source import SourceError, open_sources
from neardup import Parameters
from tests.crawler.lab.reading import paths_of, read_all, texts_of
from tests.crawler.pages.test_capture import LONG, OTHER, html
from tests.crawler.pages.test_revisits import OPTIONS, Visiting

if TYPE_CHECKING:
    from pathlib import Path


def test_ids_are_unique_and_texts_come_in_the_order_asked_for(tmp_path: Path) -> None:
    one, other = Visiting(tmp_path / "one"), Visiting(tmp_path / "other")
    one.get("/image", b"%PDF-1.4 " + b"\x93" * 60)
    one.get("/a", html(LONG))
    other.get("/b", html(OTHER))
    other.get("/c", html(OTHER))
    one.job.commit()
    other.job.commit()
    sources = open_sources([tmp_path / "one", tmp_path / "other" / "crawl.db"])
    pages = read_all(sources)
    assert paths_of(pages) == ["a", "b", "c"]
    assert len({page.id for page in pages}) == 3
    assert [page.duplicate_of for page in pages] == [None, None, pages[1].id]
    first, second, third, again = texts_of(sources, [pages[2], pages[0], pages[1], pages[2]])
    assert first == third == again
    assert second is not None
    assert LONG in second
    assert sources.name == f"{tmp_path / 'one'}, {tmp_path / 'other'}"
    one.get("/d", html(LONG))
    one.close()
    other.close()
    (new,) = read_all(sources)
    assert new.duplicate_of == pages[0].id


def test_fingerprints_of_other_features_do_not_go_together(tmp_path: Path) -> None:
    Visiting(tmp_path / "one", replace(OPTIONS, parameters=Parameters(verify=False))).close()
    Visiting(tmp_path / "other").close()
    with pytest.raises(SourceError, match="of word-1-log_count, and of word-3-set"):
        open_sources([tmp_path / "one", tmp_path / "other"])


def test_crawl_that_was_made_of_a_file_has_its_name(tmp_path: Path) -> None:
    Visiting(tmp_path / "job").close()
    file = tmp_path / "pages.jsonl"
    (part,) = open_sources([file], made={file: tmp_path / "job"}).parts
    assert (part.name, part.folder, part.is_temporary) == (str(file), tmp_path / "job", True)


def test_folder_without_a_crawl_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no crawl in it"):
        open_sources([tmp_path])
