"""A crawl directory as a source, beside the process that writes to it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from crawler.lab.crawl_source import CrawlSource, SourceError
from crawler.reading.content.content_text import shown_text
from neardup import Parameters
from tests.crawler.lab.reading import paths_of, read_all, texts_of
from tests.crawler.pages.test_capture import LONG, OTHER, html
from tests.crawler.pages.test_near_texts import INDEX
from tests.crawler.pages.test_revisits import NEAR, OPTIONS, PDF, Visiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def visiting(tmp_path: Path) -> Iterator[Visiting]:
    """A crawl that is running, with a page for each verdict."""
    visiting = Visiting(tmp_path)
    visiting.get("/a", html(LONG))
    visiting.get("/bytes", html(LONG))
    visiting.get("/text", html(LONG, head="<!-- -->"))
    visiting.get("/near", html(NEAR))
    visiting.get("/image", PDF)
    visiting.get("/same-image", PDF)
    visiting.get("/short", html("Few words."))
    visiting.get("/index", INDEX)
    visiting.job.commit()
    yield visiting
    visiting.close()


def test_pages_come_in_the_order_of_the_crawl_without_files(
    visiting: Visiting, tmp_path: Path
) -> None:
    source = CrawlSource(tmp_path)
    pages = read_all(source)
    assert [(page.url.rpartition("/")[2], page.verdict) for page in pages] == [
        ("a", "new"),
        ("bytes", "exact_duplicate"),
        ("text", "text_duplicate"),
        ("near", "near_duplicate"),
        ("short", "too_short"),
        ("index", "new"),
    ]
    assert [page.id for page in pages] == sorted(page.id for page in pages)
    assert source.progress == 1


def test_each_page_has_its_text_wherever_it_is_held(visiting: Visiting, tmp_path: Path) -> None:
    source = CrawlSource(tmp_path)
    pages = read_all(source)
    first, same, also, near, short, index = texts_of(source, pages)
    assert first is not None
    assert LONG in first
    assert same == also == first
    assert near is not None
    assert NEAR in near
    assert short is not None
    assert "Few words" in short
    assert index is not None
    assert texts_of(source, pages[::-1]) == [index, short, near, also, same, first]
    assert list(source.texts([10_000])) == [None]


def test_each_page_is_shown_as_the_page_that_holds_its_text(
    visiting: Visiting, tmp_path: Path
) -> None:
    source = CrawlSource(tmp_path)
    pages = read_all(source)
    contents = [source.content(page.id) for page in pages]
    first, same, also, near, *_ = contents
    assert first is not None
    assert near is not None
    assert same == also == first
    assert (shown_text(first.xml_zstd), shown_text(near.xml_zstd)) == (
        f"A page\n{LONG}",
        f"A page\n{NEAR}",
    )
    sql = "SELECT content, page_type, content_source FROM pages WHERE id = 1"
    assert first == visiting.job.database.read(sql).fetchone()
    assert source.content(10_000) is None


def test_what_is_known_of_a_page_is_what_the_crawl_found(
    visiting: Visiting, tmp_path: Path
) -> None:
    first, same, _, near, short, index = read_all(CrawlSource(tmp_path))
    assert (same.duplicate_of, same.distance, same.similarity) == (first.id, 0, 1.0)
    assert near.duplicate_of == first.id
    assert near.similarity is not None
    assert 0.8 <= near.similarity < 1
    assert first.fingerprint is not None
    assert first.is_main
    assert short.fingerprint is None
    assert short.is_main
    assert not index.is_main
    assert index.fingerprint is None
    assert index.words > 50
    assert first.payload_digest == same.payload_digest != near.payload_digest
    assert first.body_bytes == len(html(LONG))


def test_only_what_is_new_comes_again(visiting: Visiting, tmp_path: Path) -> None:
    source = CrawlSource(tmp_path)
    read_all(source)
    assert source.read_new() == []
    visiting.get("/other", html(OTHER))
    assert source.read_new() == []  # not committed
    visiting.job.commit()
    assert paths_of(source.read_new()) == ["other"]
    assert source.read_new() == []
    assert not source.is_superseded()


def test_it_is_superseded_by_a_new_capture_of_a_page_that_it_gave(
    visiting: Visiting, tmp_path: Path
) -> None:
    source = CrawlSource(tmp_path)
    read_all(source)
    visiting.again()
    visiting.get("/short", html("Few words."))
    visiting.job.commit()
    assert not source.is_superseded()
    visiting.get("/short", html("Few other words."))
    visiting.job.commit()
    assert source.is_superseded()
    assert not CrawlSource(tmp_path).is_superseded()
    assert paths_of(read_all(CrawlSource(tmp_path)))[-1] == "short"


def test_it_is_superseded_where_an_heir_takes_over(visiting: Visiting, tmp_path: Path) -> None:
    source = CrawlSource(tmp_path)
    read_all(source)
    visiting.again()
    visiting.get("/a", html(OTHER))
    visiting.job.commit()
    assert source.is_superseded()


def test_it_is_superseded_where_all_pages_are_judged_again(
    visiting: Visiting, tmp_path: Path
) -> None:
    source = CrawlSource(tmp_path)
    read_all(source)
    # As crawl-once rejudge does: it names its parameters, and texts go where they belong.
    write = visiting.job.database.write
    write("UPDATE pages SET parameters = 2, duplicate_of = 7 WHERE id = 1")
    write("INSERT INTO near_texts SELECT id, text, content, NULL FROM pages WHERE id = 1")
    write("UPDATE pages SET text = NULL, content = NULL WHERE id = 1")
    visiting.job.commit()
    assert source.is_superseded()
    anew = CrawlSource(tmp_path)
    first, same, also, *_ = texts_of(anew, read_all(anew))
    assert first is not None
    assert first == same == also
    assert not anew.is_superseded()


def test_it_holds_no_snapshot_between_calls(visiting: Visiting, tmp_path: Path) -> None:
    source = CrawlSource(tmp_path)
    pages = read_all(source)
    texts = source.texts([page.id for page in pages])
    next(texts)
    visiting.get("/other", html(OTHER))
    visiting.job.commit()
    busy, in_log, copied = visiting.job.database.read("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert (busy, in_log, copied) == (0, 0, 0)
    assert len(list(texts)) == len(pages) - 1


def test_any_thread_may_use_it(visiting: Visiting, tmp_path: Path) -> None:
    source = CrawlSource(tmp_path)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(source.read_new())))]
    for thread in threads:
        thread.start()
        thread.join()
    assert found == [6]
    assert len(list(source.texts([1]))) == 1


def test_parameters_are_those_that_hold_now(visiting: Visiting, tmp_path: Path) -> None:
    source = CrawlSource(tmp_path)
    settings = OPTIONS.parameters
    assert source.parameters() == Parameters(features=settings.fingerprint_features)
    with pytest.raises(SourceError, match="no crawl in it"):
        CrawlSource(tmp_path / "fingerprints")


def test_damaged_text_is_named(visiting: Visiting, tmp_path: Path) -> None:
    visiting.job.database.write("UPDATE pages SET text = x'0102' WHERE id = 1")
    visiting.job.commit()
    source = CrawlSource(tmp_path)
    with pytest.raises(SourceError, match="text of page 1 is damaged; crawl-once verify"):
        list(source.texts([1]))
