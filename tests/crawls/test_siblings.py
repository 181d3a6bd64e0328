"""Sections of a statute that nothing names: each is kept by the crawl itself, early ones too."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.crawler.maintenance.rejudge.captured import judge_again
from tests.crawler.maintenance.verify.crawled import check
from tests.crawls.command import crawl, pages, report, scrapy
from tests.crawls.kills import KilledCrawl
from tests.sites.many import ManyPages
from tests.sites.statute import own_words, statute

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def kept_sections(jobdir: Path) -> Counter[str]:
    """How often the last paragraph of a section is kept."""
    texts = [row["text"].strip().splitlines()[-1] for row in pages(jobdir, "--verdict", "kept")]
    return Counter(text for text in texts if text.startswith("Under section"))


def each_once(sections: int) -> dict[str, int]:
    return {own_words(number): 1 for number in range(1, sections + 1)}


@pytest.mark.parametrize("sections", [10, 30])
def test_the_first_sections_are_kept_and_told_in_the_feed(tmp_path: Path, sections: int) -> None:
    jobdir, feed = tmp_path / "job", tmp_path / "feed.jsonl"
    with ManyPages(statute(sections)) as site:
        crawl(site.url, jobdir, "-O", str(feed))
    assert kept_sections(jobdir) == each_once(sections)
    assert scrapy("verify", str(jobdir), "--feed", str(feed)).returncode == 0
    compared = report(jobdir)["comparisons"]["compared"]
    assert compared >= sections - 1
    told = f"candidates of all texts: {compared} compared"
    assert told in scrapy("report", str(jobdir)).stdout
    fed = [json.loads(line) for line in feed.read_text().splitlines()]
    assert sum(row["verdict"] == "same_template" for row in fed) == sections - 1
    judge_again(jobdir)
    assert kept_sections(jobdir) == each_once(sections)


def test_switched_off_they_are_dropped(tmp_path: Path) -> None:
    with ManyPages(statute(14)) as site:
        crawl(site.url, tmp_path, "-s", "NEARDUP_IGNORE_BOILERPLATE=0")
    assert kept_sections(tmp_path).total() == 1


def test_what_they_link_to_is_fetched_though_links_of_duplicates_are_not(tmp_path: Path) -> None:
    site_pages = statute(30)
    ends = [path for path in site_pages if path.startswith("/act/")]
    for number, path in enumerate(ends):
        link = f'<a href="/annex/{number}.html">annex</a></body>'.encode()
        site_pages[path] = site_pages[path].replace(b"</body>", link)
        words = " ".join(f"annex{number}word{place}" for place in range(80))
        site_pages[f"/annex/{number}.html"] = f"<title>{number}</title><p>{words}</p>".encode()
    with ManyPages(site_pages) as site:
        crawl(site.url, tmp_path, "-s", "NEARDUP_FOLLOW_DUPLICATES=0")
        assert set(site.asked) >= set(site_pages)
        assert max(site.asked[path] for path in site_pages) == 1


def test_a_crawl_that_is_killed_keeps_the_same_sections(tmp_path: Path) -> None:
    with ManyPages(statute(30)) as site:
        killed = KilledCrawl(site, tmp_path, seed=17)
        for asked in (8, 5, 5, 20, 0):
            killed.run_until(asked)
        killed.finish()
    assert kept_sections(tmp_path) == each_once(30)
    assert check(tmp_path).problems == ()
