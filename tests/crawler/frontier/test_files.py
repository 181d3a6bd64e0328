"""Rules and files that are no pages: they are evidence, and none is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawler.frontier.ruled import FILE, SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import argument, report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Site = Callable[[str], str | None]

SESSIONS = ("a1", "b2", "c3", "d4")


def crawled(folder: Path, site: Site, urls: list[str]) -> RuledCrawl:
    folder.mkdir(exist_ok=True)
    crawl = RuledCrawl(folder, site)
    for url in urls:
        crawl.admit(url)
        crawl.drain()
    assert crawl.said() == {said for said in map(site, urls) if said is not None}
    return crawl


def below_sessions(url: str) -> str:
    path = url.removeprefix(f"{SOMEWHERE}/s/").partition("/")[2]
    return path if path.endswith(".html") else FILE + path


def in_sessions(*paths: str) -> list[str]:
    return [f"{SOMEWHERE}/s/{session}/{path}" for path in paths for session in SESSIONS]


def test_files_speak_for_a_rule_beside_pages(tmp_path: Path) -> None:
    both = [path for n in range(12) for path in (f"{n}.html", f"look/{n}.css")]
    assert report(crawled(tmp_path / "both", below_sessions, in_sessions(*both))).rules
    pages = in_sessions(*(f"{n}.html" for n in range(8)))
    assert not report(crawled(tmp_path / "pages", below_sessions, pages)).rules


def test_files_alone_say_nothing_of_a_whole_host(tmp_path: Path) -> None:
    files = in_sessions(*(f"look/{n}.css" for n in range(60)))
    assert not report(crawled(tmp_path, below_sessions, files)).rules


def test_a_file_that_was_had_is_not_asked_for_again(tmp_path: Path) -> None:
    pages = in_sessions(*(f"{n}.html" for n in range(30)))
    crawl = crawled(tmp_path, below_sessions, pages)
    before = len(crawl.fetched)
    crawl.admit_all(f"{SOMEWHERE}/s/{n}e/look/x.css" for n in range(50))
    crawl.drain()
    assert len(crawl.fetched) - before <= 2


def test_files_that_differ_refute_what_pages_taught(tmp_path: Path) -> None:
    def site(url: str) -> str:
        number, size = argument(url, "id"), argument(url, "size")
        return f"page {number}" if "/page" in url else f"{FILE}{number} {size}"

    urls = [
        f"{SOMEWHERE}/{kind}?id={n}&size={size}"
        for kind in ("page.html", "picture.png")
        for n in range(40)
        for size in ("s", "m", "l")
    ]
    crawl = crawled(tmp_path, site, urls)
    assert len(crawl.fetched) < len(urls)


def test_one_picture_at_many_urls_teaches_nothing(tmp_path: Path) -> None:
    def site(url: str) -> str:
        number = int(argument(url, "id"))
        return FILE + ("spacer" if number < 100 else f"picture {number}")

    urls = [f"{SOMEWHERE}/picture.png?id={n}" for n in range(150)]
    assert len(crawled(tmp_path, site, urls).fetched) == len(urls)
