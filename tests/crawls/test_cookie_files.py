"""Crawls that send the cookies of a file."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import scrapy
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.exchange import Exchange


@pytest.mark.parametrize("spider", ["site", "urls"])
def test_a_site_that_wants_a_cookie_is_crawled(spider: str, tmp_path: Path) -> None:
    def answer(exchange: Exchange) -> None:
        if "session=s1" in exchange.headers.get("Cookie", ""):
            again = {"Set-Cookie": "session=s1; Path=/"}
            exchange.answer(page(prose("within", 200)), headers=again)
        else:
            exchange.answer(b"Who?", status=403)

    file, urls = tmp_path / "cookies.txt", tmp_path / "urls"
    # A host without a full stop is named so, as http.cookiejar has it.
    file.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\ts1\n")
    with ChangingSite() as site:
        site.added["/"] = answer
        urls.write_text(site.url)
        where = f"url={site.url}" if spider == "site" else f"file={urls}"
        job = f"JOBDIR={tmp_path / 'job'}"
        options = ("-s", job, "-s", "WARC_ENABLED=True")
        done = scrapy("crawl", spider, "-a", where, "-a", f"cookies={file}", *options)
        assert done.returncode == 0, done.stderr
        with_cookie = [one for one in site.asked if one.path == "/"]
    assert with_cookie
    assert all("session=s1" in one.headers.get("cookie", "") for one in with_cookie)
    (archive,) = (tmp_path / "job" / "warc").glob("*.warc.gz")
    recorded = gzip.decompress(archive.read_bytes())
    assert b"GET / HTTP/1.1" in recorded
    assert b"session=s1" not in recorded, "a user's cookies are no part of an archive"


@pytest.mark.parametrize("spider", ["site", "urls"])
def test_a_wrong_file_is_one_line_before_anything_is_asked(spider: str, tmp_path: Path) -> None:
    urls = tmp_path / "urls"
    urls.write_text("http://127.0.0.1:9/")
    where = "url=http://127.0.0.1:9/" if spider == "site" else f"file={urls}"
    wrong = tmp_path / "none"
    job = tmp_path / "job"
    done = scrapy("crawl", spider, "-a", where, "-a", f"cookies={wrong}", "-s", f"JOBDIR={job}")
    assert done.returncode != 0
    assert f"-a cookies: {wrong}: No such file" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not job.exists()
