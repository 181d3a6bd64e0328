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
from tests.sites.prose import prose
from tests.sites.statute import own_words, statute

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


NOT_OF_DUPLICATES = ("-s", "NEARDUP_FOLLOW_DUPLICATES=0")
ONE_BY_ONE = ("-s", "CONCURRENT_REQUESTS=1", "-s", "READING_WORKERS=1", "-s", "DOWNLOAD_DELAY=0")
"""Settings by which pages are judged in the order of their requests."""


def linking(*paths: str) -> bytes:
    """Return the end of a page with links."""
    return "".join(f'<a href="{path}">{path}</a> ' for path in paths).encode() + b"</body>"


def own_page(path: str, *paths: str) -> bytes:
    """Return a page that says something of its own, with links."""
    text = f"<title>{path}</title><body><p>{prose(path, 80)}</p>"
    return text.encode() + linking(*paths)


def with_annexes(sections: dict[str, bytes]) -> dict[str, bytes]:
    """Let each section link to a page of its own."""
    site_pages = dict(sections)
    for path in (path for path in sections if path.startswith("/act/")):
        annex = path.replace("act", "annex")
        site_pages[path] = sections[path].replace(b"</body>", linking(annex))
        site_pages[annex] = own_page(annex)
    return site_pages


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
    told = f"pairs of texts that may be near duplicates: {compared} compared"
    assert told in scrapy("report", str(jobdir)).stdout
    fed = [json.loads(line) for line in feed.read_text().splitlines()]
    assert sum(row["verdict"] == "same_template" for row in fed) == sections - 1
    judge_again(jobdir)
    assert kept_sections(jobdir) == each_once(sections)


def test_switched_off_they_are_dropped(tmp_path: Path) -> None:
    with ManyPages(statute(14)) as site:
        crawl(site.url, tmp_path, "-s", "NEARDUP_IGNORE_BOILERPLATE=0")
    assert kept_sections(tmp_path).total() == 1


class TestLinksOfDuplicatesAreNotFollowed:
    """What sections link to is fetched all the same, whenever they turn out to be none."""

    def test_what_they_link_to_is_fetched(self, tmp_path: Path) -> None:
        with ManyPages(with_annexes(statute(30))) as site:
            crawl(site.url, tmp_path, *NOT_OF_DUPLICATES)
            assert set(site.asked) >= set(site.pages)
            assert max(site.asked[path] for path in site.pages) == 1

    def test_one_that_is_kept_after_a_duplicate_came_is_no_deeper(self, tmp_path: Path) -> None:
        site_pages = with_annexes(statute(11))
        copy = linking("/s/7f3a/act/1")
        site_pages["/"] = site_pages["/"].replace(b"</body>", copy)  # it comes after all sections
        with ManyPages(site_pages) as site:
            crawl(site.url, tmp_path, *NOT_OF_DUPLICATES, *ONE_BY_ONE, "-a", "max_depth=2")
            assert set(site.asked) >= set(site.pages)

    def test_a_shorter_way_that_only_one_of_them_has_is_followed(self, tmp_path: Path) -> None:
        site_pages = statute(11)
        sections = [path for path in site_pages if path.startswith("/act/")]
        links = {
            "/": (*sections[:2], "/way/1"),
            sections[1]: ("/near",),
            "/way/1": ("/way/2",),
            "/way/2": ("/near",),
            "/near": ("/further", *sections[2:]),
            "/further": ("/far",),
            "/far": (),
        }
        made = {path: own_page(path) for path in links if path not in sections}
        site_pages = {path: site_pages[path] for path in sections} | made
        for path, linked in links.items():
            site_pages[path] = site_pages[path].replace(b"</body>", linking(*linked))
        with ManyPages(site_pages) as site:
            crawl(site.url, tmp_path, *NOT_OF_DUPLICATES, *ONE_BY_ONE, "-a", "max_depth=4")
            assert "/far" in site.asked  # five links away by the other way

    def test_a_kill_loses_none(self, tmp_path: Path) -> None:
        with ManyPages(with_annexes(statute(30))) as site:
            killed = KilledCrawl(site, tmp_path, seed=17, arguments=NOT_OF_DUPLICATES)
            for asked in (11, 2, 2, 5, 20):
                killed.run_until(asked)
            killed.finish()
            assert set(site.asked) >= set(site.pages)

    def test_the_links_of_one_whose_original_has_changed_are_followed(self, tmp_path: Path) -> None:
        original, repeats = own_page("/original"), own_page("/original", "/only")
        site_pages = {
            "/": own_page("/", "/original", "/repeats"),
            "/original": original,
            "/repeats": repeats,
            "/only": own_page("/only"),
        }
        with ManyPages(site_pages) as site:
            crawl(site.url, tmp_path, *NOT_OF_DUPLICATES, *ONE_BY_ONE)
            assert "/only" not in site.asked
            site.pages["/original"] = own_page("/another")
            # As a seed the duplicate is asked for first, while its original is unchanged.
            seeds = f"{site.url},{site.origin}/repeats"
            crawl(seeds, tmp_path, *NOT_OF_DUPLICATES, *ONE_BY_ONE, "-a", "revisit=yes")
            assert site.asked["/only"] == 1
        kept = {row["url"] for row in pages(tmp_path, "--verdict", "kept")}
        assert kept >= {f"{site.origin}/repeats", f"{site.origin}/only"}
        assert check(tmp_path).problems == ()


def test_a_crawl_that_is_killed_keeps_the_same_sections(tmp_path: Path) -> None:
    with ManyPages(statute(30)) as site:
        killed = KilledCrawl(site, tmp_path, seed=17)
        for asked in (8, 5, 5, 20, 0):
            killed.run_until(asked)
        killed.finish()
    assert kept_sections(tmp_path) == each_once(30)
    assert check(tmp_path).problems == ()
