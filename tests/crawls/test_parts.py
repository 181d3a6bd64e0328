"""A press is crawled: print views, excerpts, posts and torn copies are told to be parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.crawler.maintenance.verify.crawled import check
from tests.crawls.command import crawl, report, scrapy
from tests.crawls.crawled import exported
from tests.crawls.kills import KilledCrawl
from tests.sites.book import NAMED, PARTS, other_book, press
from tests.sites.many import ManyPages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

DROPPING = ("-s", "NEARDUP_DROP_CONTAINED=1")
DROPPED = PARTS.keys() - NAMED


def by_paths(site: ManyPages, jobdir: Path) -> dict[str, dict[str, Any]]:
    """All pages by their paths; other pages are named by their paths too."""
    origin = site.url.rstrip("/")
    rows = exported(jobdir, origin)
    for row in rows.values():
        for name in ("duplicate_of", "part_of"):
            row[name] = row[name] and row[name].removeprefix(origin)
    return rows


def named(rows: dict[str, dict[str, Any]], column: str) -> dict[str, str]:
    return {path: row[column] for path, row in rows.items() if row[column] is not None}


def dropped(rows: dict[str, dict[str, Any]]) -> set[str]:
    return {path for path, row in rows.items() if row["verdict"] == "contained"}


@pytest.mark.parametrize("kills", [(), (1, 3, 2)], ids=["undisturbed", "killed three times"])
def test_parts_are_kept_and_name_what_holds_them(tmp_path: Path, kills: tuple[int, ...]) -> None:
    with ManyPages(press()) as site:
        killed = KilledCrawl(site, tmp_path, seed=3)
        for pages in kills:
            killed.run_until(pages)
        killed.finish()
        found = by_paths(site, tmp_path)
        assert found.keys() == press().keys()
        assert all(row["text"] is not None for row in found.values())
        assert named(found, "part_of") == PARTS
        assert all(0.9 <= found[path]["containment"] <= 1 for path in PARTS)
        assert check(tmp_path).problems == ()
        told = report(tmp_path)
        assert told["parts"] == len(PARTS)
        assert (
            "7 kept pages are parts of another kept page" in scrapy("report", str(tmp_path)).stdout
        )


@pytest.mark.parametrize("kills", [(), (1, 3, 2)], ids=["undisturbed", "killed three times"])
def test_on_wish_they_are_dropped_unless_they_have_a_name_of_their_own(
    tmp_path: Path, kills: tuple[int, ...]
) -> None:
    with ManyPages(press()) as site:
        killed = KilledCrawl(site, tmp_path, seed=5, arguments=DROPPING)
        for pages in kills:
            killed.run_until(pages)
        killed.finish()
        found = by_paths(site, tmp_path)
    assert named(found, "duplicate_of") == {path: PARTS[path] for path in DROPPED}
    assert dropped(found) == DROPPED
    assert named(found, "part_of") == {path: PARTS[path] for path in NAMED}
    assert check(tmp_path).problems == ()


def test_a_directory_that_exists_is_judged_by_either_choice(tmp_path: Path) -> None:
    with ManyPages(press()) as site:
        crawl(site.url, tmp_path)
        first = by_paths(site, tmp_path)
        for choice, expected in (("yes", DROPPED), ("no", set())):
            assert scrapy("tune", str(tmp_path), f"drop_contained={choice}").returncode == 0
            assert scrapy("rejudge", str(tmp_path)).returncode == 0
            assert dropped(by_paths(site, tmp_path)) == expected
            assert check(tmp_path).problems == ()
        assert by_paths(site, tmp_path) == first


def test_parts_are_promoted_when_the_book_says_something_else(tmp_path: Path) -> None:
    with ManyPages(press()) as site:
        crawl(site.url, tmp_path, *DROPPING)
        assert dropped(by_paths(site, tmp_path)) == DROPPED
        site.pages["/book.html"] = other_book()
        crawl(site.url, tmp_path, *DROPPING, "-a", "revisit=yes")
        found = by_paths(site, tmp_path)
    assert dropped(found) <= {"/story.html"}
    for path in DROPPED - {"/story.html"}:
        assert found[path]["text"] is not None, path
        assert found[path]["duplicate_of"] is None
    assert found["/story.html"]["duplicate_of"] == "/sponsored.html"
    assert check(tmp_path).problems == ()
