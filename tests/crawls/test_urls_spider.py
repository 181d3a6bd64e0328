"""The spider ``urls``: what is in the list, and nothing else."""

from __future__ import annotations

import pytest

from tests.crawls.command import scrapy
from tests.crawls.crawled import Crawled, read_back
from tests.sites.hostile import HostileSite

LISTED = """\
\ufeff# a list
{origin}/

  {origin}/plain/1  \r
127.0.0.1/plain/2
ftp://127.0.0.1/plain/3
{origin}/plain/4?utm_source=list
{origin}/plain/4
{origin}/plain/5 {origin}/plain/6
http://[::1/
{origin}/redirect/plain
{origin}/missing-404
{origin}/image
a line of words
"""
MALFORMED = (5, 6, 9, 10, 14)


@pytest.fixture(scope="module", params=["file", "standard input"])
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("urls")
    with HostileSite(linked=("/plain/7",)) as site:
        text = LISTED.format(origin=site.origin)
        is_file = request.param == "file"
        path = folder / "list.txt"
        path.write_text(text, encoding="utf-8")
        done = scrapy(
            "crawl", "urls", "-a", f"file={path if is_file else '-'}",
            "-s", f"CRAWL_DIRECTORY={folder}",
            stdin=None if is_file else text,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert "5 lines of" in done.stderr, "those that are no URL"
        assert "1 URL failed" in done.stderr
        name = "list-list" if is_file else "stdin"
        assert done.stdout.splitlines()[0] == f"crawl directory: {folder / name} (new)"
        return read_back(done, folder / name, site.origin, site.paths())


def test_only_the_list_is_asked_for(crawled: Crawled) -> None:
    assert sorted(crawled.asked) == [
        "/",
        "/image",
        "/missing-404",
        "/plain/1",
        "/plain/301",
        "/plain/4",
        "/plain/4?utm_source=list",
        "/redirect/plain",
    ]


def test_every_url_has_a_row(crawled: Crawled) -> None:
    pages = {"/", "/plain/1", "/plain/301", "/plain/4", "/plain/4?utm_source=list"}
    assert crawled.kept == pages, "the argument chooses the page on this site"
    assert crawled.rows["/image"]["verdict"] == "not_html"
    assert crawled.rows["/missing-404"]["reason"] == "HTTP 404"
    assert len(crawled.rows) == 7


def test_malformed_lines_are_named(crawled: Crawled) -> None:
    errors = crawled.done.stderr
    assert "Traceback" not in errors
    named = [line for line in errors.splitlines() if ", line " in line]
    assert len(named) == len(MALFORMED)
    for number, line in zip(MALFORMED, named, strict=True):
        assert f", line {number}: " in line
