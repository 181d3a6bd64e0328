"""Crawls that go on with an archive whose files were lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.crawler.warc.exchanges import read_all
from tests.crawls.command import crawl, scrapy
from tests.crawls.test_warc import RECORDED
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path


class TestLostArchive:
    """Of a crawl whose WARC files were lost, the next visit records all bodies again."""

    @pytest.mark.parametrize("loss", ["removed", "cut", "never made"])
    def test_no_revisit_is_hollow(self, tmp_path: Path, loss: str) -> None:
        jobdir = tmp_path / "crawl"
        archive = jobdir / "warc"
        links = [f"/{number}" for number in range(4)]
        with ChangingSite(linked=tuple(links)) as site:
            for path in links:  # with an ETag, by which a server says "not modified"
                site.put(path, prose(path, 200))
            crawl(site.at("/"), jobdir, *(() if loss == "never made" else RECORDED))
            for file in archive.glob("*.warc.gz"):
                if loss == "removed":
                    file.unlink()
                else:
                    os.truncate(file, 600)
            told = scrapy("verify", str(jobdir))
            assert (told.returncode, "lost of the WARC files" in told.stdout) == (
                (0, False) if loss == "never made" else (1, True)
            )
            crawl(site.at("/"), jobdir, *RECORDED, "-a", "revisit=yes")
            crawl(site.at("/"), jobdir, *RECORDED, "-a", "revisit=yes")
        found = read_all(archive, [])
        bodies = {one.field("WARC-Payload-Digest") for one in found if one.kind == "response"}
        revisits = [one for one in found if one.kind == "revisit"]
        assert {one.field("WARC-Payload-Digest") for one in revisits} <= bodies
        assert {site.at(path) for path in links} <= {one.url for one in revisits}, "third visit"
        assert {site.at(path) for path in links} <= {
            one.url for one in found if one.kind == "response" and one.payload
        }

    def test_reading_it_through_tells_what_is_damaged(self, tmp_path: Path) -> None:
        jobdir = tmp_path / "crawl"
        with ChangingSite(linked=("/0",)) as site:
            site.put("/0", prose("/0", 200))
            crawl(site.at("/"), jobdir, *RECORDED)
        assert scrapy("verify", "--deep", str(jobdir)).returncode == 0
        (file,) = (jobdir / "warc").glob("*.warc.gz")
        with file.open("r+b") as opened:
            opened.seek(file.stat().st_size // 2)
            opened.write(bytes(300))
        assert scrapy("verify", str(jobdir)).returncode == 0
        told = scrapy("verify", "--deep", str(jobdir))
        assert (told.returncode, "damaged at byte" in told.stdout) == (1, True)
