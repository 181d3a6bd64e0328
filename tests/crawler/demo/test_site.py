"""The demo site holds what its table of planted things declares, and nothing like it besides."""

from __future__ import annotations

import re
from collections import deque
from itertools import combinations
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import pytest
from lxml import html

from crawler.demo.demo_server import lookup, pages
from crawler.demo.planted import DUPLICATES, EXPECTED, PLANTED, Planted, of_kind
from neardup import Parameters, hamming, simhash

if TYPE_CHECKING:
    from crawler.demo.planted import DemoPage

BASE = "http://demo.test"
SITE = pages(BASE)


def is_html(page: DemoPage) -> bool:
    return page.status == 200 and page.headers["Content-Type"].startswith("text/html")


def article_text(page: DemoPage) -> str:
    """What stands in the article and, for the calendar, in the table below it."""
    tree = html.document_fromstring(page.body, parser=html.HTMLParser(encoding="utf-8"))
    parts = [element.text_content() for element in tree.xpath("//article | //main/table//td")]
    return " ".join(" ".join(parts).split())


TEXTS = {path: article_text(page) for path, page in SITE.items() if is_html(page) and page.body}


def shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+", text.casefold())
    return {tuple(words[start : start + 5]) for start in range(max(1, len(words) - 4))}


def similarity(one: str, other: str) -> float:
    a, b = shingles(TEXTS[one]), shingles(TEXTS[other])
    return len(a & b) / len(a | b)


def links(path: str) -> list[tuple[str, bool]]:
    """The targets of a page's links, each with whether it may be followed."""
    page = SITE.get(path) or lookup(SITE, path)
    if "Location" in page.headers:
        return [(page.headers["Location"], True)]
    if not is_html(page) or not page.body:
        return []
    tree = html.document_fromstring(page.body, parser=html.HTMLParser(encoding="utf-8"))
    found = [(urljoin(path, a.get("href")), a.get("rel") != "nofollow") for a in tree.iter("a")]
    return list(dict.fromkeys(found))


def depths() -> dict[str, int]:
    """The clicks from the front page to every path that links lead to."""
    reached, todo = {"/": 0}, deque(["/"])
    while todo:
        path = todo.popleft()
        for target, follow in links(path):
            if follow and target not in reached:
                reached[target] = reached[path] + 1
                todo.append(target)
    return reached


DEPTHS = depths()


def paths(*kinds: str) -> list[str]:
    return [planted.path for planted in of_kind(*kinds)]


def shown(planted: Planted) -> str:
    return planted.path


class TestTable:
    def test_expected_counts_the_table(self) -> None:
        assert sum(EXPECTED.values()) == len(PLANTED)

    def test_twelve_duplicates_are_planted(self) -> None:
        assert len(DUPLICATES) == 12

    def test_a_path_is_planted_once(self) -> None:
        assert len({planted.path for planted in PLANTED}) == len(PLANTED)

    def test_site_is_the_same_each_time(self) -> None:
        assert pages(BASE) == SITE


class TestPlanted:
    @pytest.mark.parametrize("planted", of_kind("same_url", "exact_duplicate"), ids=shown)
    def test_copies_are_the_same_bytes(self, planted: Planted) -> None:
        assert lookup(SITE, planted.path).body == SITE[planted.of].body

    @pytest.mark.parametrize("planted", of_kind("text_duplicate"), ids=shown)
    def test_print_versions_are_the_same_text_in_other_markup(self, planted: Planted) -> None:
        assert SITE[planted.path].body != SITE[planted.of].body
        assert TEXTS[planted.path] == TEXTS[planted.of]

    @pytest.mark.parametrize("planted", of_kind("near_duplicate"), ids=shown)
    def test_editions_are_near(self, planted: Planted) -> None:
        assert TEXTS[planted.path] != TEXTS[planted.of]
        assert similarity(planted.path, planted.of) >= 0.9
        features = Parameters().fingerprint_features
        both = (simhash(TEXTS[path], features) for path in (planted.path, planted.of))
        assert hamming(*both) <= 3

    def test_no_other_two_pages_are_alike(self) -> None:
        distinct = [path for path in TEXTS if path not in DUPLICATES]
        alike = {pair for pair in combinations(distinct, 2) if similarity(*pair) > 0.25}
        assert alike == set()

    @pytest.mark.parametrize("path", paths("redirect_loop"))
    def test_redirect_loop_comes_back(self, path: str) -> None:
        assert lookup(SITE, lookup(SITE, path).headers["Location"]).headers["Location"] == path

    def test_redirect_leads_to_a_page(self) -> None:
        (moved,) = of_kind("redirect")
        assert (SITE[moved.path].status, SITE[moved.path].headers["Location"]) == (301, moved.of)

    def test_nest_is_ten_thousand_deep(self) -> None:
        assert SITE["/nest"].body.count(b"<div>") == 10_000

    def test_mislabelled_page_is_not_what_it_says(self) -> None:
        page = SITE["/fr/phare-mal-etiquete"]
        assert page.headers["Content-Type"] == "text/html; charset=us-ascii"
        assert "œ" in page.body.decode("utf-8")

    def test_noindex_page_says_so(self) -> None:
        assert b'name="robots" content="noindex"' in SITE["/staff/minutes"].body

    def test_robots_txt_closes_a_folder_and_names_the_sitemap(self) -> None:
        robots = SITE["/robots.txt"].body.decode().splitlines()
        assert "Disallow: /private/" in robots
        assert f"Sitemap: {BASE}/sitemap.xml" in robots


class TestTexts:
    def test_pages_are_of_readable_length(self) -> None:
        short = {path for path in TEXTS if len(re.findall(r"\w", TEXTS[path])) < 250}
        assert short == {"/hours"}

    @pytest.mark.parametrize("language", ["en", "fr", "ja", "zh"])
    def test_several_languages(self, language: str) -> None:
        assert any(f'<html lang="{language}">'.encode() in page.body for page in SITE.values())


class TestLinks:
    def test_every_link_leads_to_a_page_but_the_broken_one(self) -> None:
        broken = {path for path in DEPTHS if lookup(SITE, path).status == 404}
        assert broken == set(paths("missing"))

    def test_what_robots_may_not_find_is_linked_nowhere(self) -> None:
        hidden = set(SITE) - set(DEPTHS)
        meta = {"/robots.txt", "/sitemap.xml"}
        assert hidden == {*paths("nofollow", "sitemap_only"), *meta}

    def test_everything_planted_else_is_linked(self) -> None:
        linked = {planted.path for planted in PLANTED} - set(DEPTHS)
        assert linked == set(paths("nofollow", "sitemap_only"))

    def test_duplicates_hang_deeper_than_what_they_repeat(self) -> None:
        assert all(DEPTHS[copy] >= DEPTHS[kept] + 2 for copy, kept in DUPLICATES.items())

    def test_nothing_hangs_on_a_duplicate_alone(self) -> None:
        others = {target for path in DEPTHS if path not in DUPLICATES for target, _ in links(path)}
        assert {path for path in DEPTHS if path != "/"} <= others

    def test_sitemap_lists_pages_that_exist(self) -> None:
        listed = re.findall(r"<loc>(.*?)</loc>", SITE["/sitemap.xml"].body.decode())
        assert f"{BASE}/appendix" in listed
        assert all(lookup(SITE, urlsplit(url).path).status == 200 for url in listed)
        assert not {urlsplit(url).path for url in listed} & set(DUPLICATES)


class TestLookup:
    @pytest.mark.parametrize(
        "target",
        ["/ropes/bowline?utm_source=x", "/ropes/bowline?x", "/ropes/bowline?PHPSESSID=1&a=b"],
    )
    def test_other_arguments_change_nothing(self, target: str) -> None:
        assert lookup(SITE, target) is SITE["/ropes/bowline"]

    def test_order_of_arguments_changes_nothing(self) -> None:
        assert lookup(SITE, "/find?order=name&kind=term") is SITE["/find?kind=term&order=name"]

    @pytest.mark.parametrize("target", ["/nowhere", "/tides?month=2031-01", "/tides", "/<b>"])
    def test_anything_else_is_missing(self, target: str) -> None:
        answer = lookup(SITE, target)
        assert answer.status == 404
        assert b"<b>" not in answer.body
