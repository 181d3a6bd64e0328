"""A crawl directory made of what a corpus kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.corpus.adopting import adopt
from crawler.corpus.kept import Corpus
from crawler.pages.database import open_for_reading
from crawler.pages.errors import JobError
from crawler.urls.canonical import Canonicalizer
from tests.crawler.corpus.outputs import write_output
from tests.crawler.verification.crawled import check
from tests.neardup.texts import prose

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {f"http://example.org/{number}": prose(number, 100) for number in range(20)}


def made(corpus: Path, folder: Path) -> int:
    return adopt(Corpus(corpus), folder, Canonicalizer(), lambda: None)


def test_a_directory_holds_every_page_and_nothing_is_amiss(tmp_path: Path) -> None:
    write_output(tmp_path / "corpus", {**TEXTS, "a short one": "few words", "no URL": prose(30)})
    assert made(tmp_path / "corpus", tmp_path / "job") == 22
    assert not check(tmp_path / "job").problems
    connection = open_for_reading(tmp_path / "job")
    rows = connection.execute("SELECT url, verdict, fingerprint IS NULL FROM pages ORDER BY id")
    found = {url: (verdict, is_short) for url, verdict, is_short in rows}
    connection.close()
    assert found == {
        **dict.fromkeys(TEXTS, ("new", 0)),
        "a short one": ("too_short", 1),
        "no URL": ("new", 0),
    }


def test_runs_that_it_goes_on_from_are_adopted_too(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write_output(first, TEXTS)
    against = {"against": (first.as_uri(),), "runs": ("one",)}
    write_output(second, {"http://example.org/new": prose(99)}, "two", **against)
    assert made(second, tmp_path / "job") == 21
    with pytest.raises(JobError, match="holds a crawl already"):
        made(second, tmp_path / "job")
    first.rename(tmp_path / "elsewhere")
    with pytest.raises(JobError, match="no output"):
        made(second, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_what_breaks_off_leaves_no_crawl(tmp_path: Path) -> None:
    write_output(tmp_path / "corpus", TEXTS)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adopt(Corpus(tmp_path / "corpus"), tmp_path / "job", Canonicalizer(), interrupt)
    assert not list((tmp_path / "job").glob("crawl.db*"))
    assert made(tmp_path / "corpus", tmp_path / "job") == 20
