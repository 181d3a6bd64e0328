"""Pages in several languages, most of them not translated: none is lost, no rule is without end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.crawler.frontier.ruled import SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import argument, report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

LANGUAGES = ("da", "de", "en", "es", "fr", "pt-br", "ru")
RARE = "da"


@contextmanager
def ended_within(secs: int) -> Iterator[None]:
    """Fail where something goes on for ever."""

    def fail(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"not through after {secs} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(secs)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def translated(url: str) -> str:
    """Of one folder each page is translated, and of another one page into the rare language."""
    language, folder, name = url.removeprefix(f"{SOMEWHERE}/").split("/")
    number = int(name.removesuffix(".html"))
    if language == RARE:
        is_own = (folder, number) == ("mod", 67)
    else:
        is_own = folder == "howto" and LANGUAGES[number % len(LANGUAGES)] == language
    return f"{folder} {number}" + (f" in {language}" if is_own else "")


@pytest.mark.parametrize("in_turn", [True, False])
def test_no_translation_is_lost(in_turn: bool, tmp_path: Path) -> None:
    pages = [f"{folder}/{n}.html" for n in range(80) for folder in ("mod", "howto", "ssl")]
    if in_turn:
        paths = [f"{language}/{page}" for page in pages for language in LANGUAGES]
    else:
        paths = [f"{language}/{page}" for language in LANGUAGES for page in pages]
    urls = [f"{SOMEWHERE}/{path}" for path in paths]
    crawl = RuledCrawl(tmp_path, translated)
    crawl.admit_all(urls)
    crawl.drain()
    assert crawl.said() == set(map(translated, urls))


def test_another_name_for_the_same_pages_is_learned_all_the_same(tmp_path: Path) -> None:
    def site(url: str) -> str:
        return url.removeprefix(SOMEWHERE).replace("/print/", "/article/")

    urls = [f"{SOMEWHERE}/{n}/{i}.html" for i in range(100) for n in ("article", "print", "author")]
    crawl = RuledCrawl(tmp_path, site)
    for url in urls:
        crawl.admit(url)
        crawl.drain()
    assert crawl.said() == set(map(site, urls))
    assert len(crawl.fetched) < 240


def view(url: str) -> str:
    """Of some news each edition is another page; of everything else there is one."""
    if argument(url, "edition") == "":
        return url
    number = int(argument(url, "id"))
    is_own = "/news" in url and number < 5
    return url if is_own else url.partition("?")[0] + f" {number}"


def test_a_rule_that_its_exceptions_make_superfluous_is_not_adopted_for_ever(
    tmp_path: Path,
) -> None:
    def editions(kind: str, ids: range) -> list[str]:
        return [
            f"{SOMEWHERE}/{kind}?edition={edition}&id={number}"
            for number in ids
            for edition in ("one", "two", "three")
        ]

    crawl = RuledCrawl(tmp_path, view)
    urls = editions("news", range(5))
    urls += [f"{SOMEWHERE}/story/{'x' * n}?edition=" for n in range(1, 450)]
    urls += (
        editions("page", range(20)) + editions("post", range(20)) + editions("news", range(5, 60))
    )
    with ended_within(20):
        for url in urls:  # as a sitemap lists them: rules or not
            crawl.admit(url, is_fixed=True)
            crawl.drain()
    assert report(crawl).rules
