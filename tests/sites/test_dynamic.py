"""What the dynamic site promises to crawls that are judged by it."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import replace
from html import unescape
from itertools import combinations
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

import pytest

from neardup import jaccard
from tests.sites.dynamic import CLUTTERED, DynamicSite, Options
from tests.sites.dynamic.parts import PARTS

pytestmark = pytest.mark.slow

SMALL = Options(boards=2, articles=10, authors=3, size=60)
ALIASES = {
    "clutter": replace(CLUTTERED, boards=2, articles=10, authors=3),
    "session in the path": replace(SMALL, session="path"),
    "folders": replace(SMALL, boards=6, articles=5, folders=True, zero_starts=True),
    "cases": replace(SMALL, cases=True),
    "hosts": replace(SMALL, hosts=True),
    "shuffled": replace(SMALL, shuffled=True, refs=True, sorts=True),
    "separators": replace(SMALL, separators=("&", ";"), refs=True, sorts=True),
    "repeated": replace(SMALL, repeated=True, sorts=True),
    "valueless": replace(SMALL, valueless=True),
    "escaped twice": replace(SMALL, escaped_twice=True),
}


def body(url: str) -> str:
    with urlopen(url, timeout=20) as response:
        read: bytes = response.read()
    return read.decode()


def links(url: str) -> list[str]:
    return [urljoin(url, unescape(href)) for href in re.findall('<a href="([^"]*)"', body(url))]


def says(page: str) -> frozenset[str]:
    """The paragraphs of a page; a listing in another order has the same."""
    return frozenset(re.findall("<p>(.*?)</p>", page, re.DOTALL))


def walk(site: DynamicSite) -> list[str]:
    """Every URL that is met when one page of each content has its links followed."""
    queue, seen, urls = deque([site.url]), {"home"}, [site.url]
    while queue:
        for link in links(queue.popleft()):
            urls.append(link)
            content = site.content_of(link)
            if content not in seen and not content.startswith("goods"):
                seen.add(content)
                queue.append(link)
    return urls


class TestTruth:
    def test_the_cluttered_site_has_1220_contents(self) -> None:
        with DynamicSite(CLUTTERED) as site:
            assert len(site.truth) == 1220

    @pytest.mark.parametrize("part", PARTS)
    def test_everything_is_linked(self, part: str) -> None:
        with DynamicSite(replace(SMALL, parts=(part,), soft_errors=True)) as site:
            met = {site.content_of(url) for url in walk(site)}
            assert site.truth <= met

    def test_found_and_lost_are_told_by_what_was_fetched(self) -> None:
        with DynamicSite(SMALL) as site:
            assert site.lost() == site.truth
            body(f"{site.url}article?id=3")
            body(f"{site.url}article?id=3&x=y")
            assert site.found() == {"article 3"}
            assert site.lost() == site.truth - {"article 3"}
            assert [fetch.content for fetch in site.fetches] == ["article 3"] * 2
            site.forget()
            assert not site.found()

    def test_distinct_pages_are_far_from_near_duplicates(self) -> None:
        parts = ("shop", "terms", "views", "editions")
        texts: dict[str, str] = {}
        with DynamicSite(replace(SMALL, parts=parts)) as site:
            for url in walk(site):
                texts.setdefault(site.content_of(url), " ".join(sorted(says(body(url)))))
        assert min(len(text.split()) for text in texts.values()) >= 80
        assert max(jaccard(*pair) for pair in combinations(texts.values(), 2)) < 0.5


class TestAliases:
    @pytest.mark.parametrize("name", ALIASES)
    def test_urls_of_one_content_say_the_same(self, name: str) -> None:
        said = defaultdict(set)
        urls = defaultdict(set)
        with DynamicSite(ALIASES[name]) as site:
            for url in walk(site):
                said[site.content_of(url)].add(says(body(url)))
                urls[site.content_of(url)].add(url)
        assert set(said) == site.truth
        assert all(len(texts) == 1 for texts in said.values())
        assert len({next(iter(texts)) for texts in said.values()}) == len(said)
        assert sum(map(len, urls.values())) > 1.4 * len(said)

    def test_a_site_without_aliases_has_one_url_for_each_content(self) -> None:
        with DynamicSite(SMALL) as site:
            assert len(set(walk(site))) == len(site.truth)

    def test_a_session_id_is_new_in_each_link_of_each_view(self) -> None:
        with DynamicSite(CLUTTERED) as site:
            found = [re.search("sid=([0-9a-f]+)", link) for link in links(site.url) * 2]
            found += [re.search("sid=([0-9a-f]+)", link) for link in links(site.url)]
        ids = [match[1] for match in found if match]
        assert len(set(ids)) == 2 * len(ids) / 3

    @pytest.mark.parametrize(
        ("options", "wanted"),
        [
            (Options(canonical="right"), "/article?id=4"),
            (Options(canonical="home"), "/"),
            (Options(canonical="loop"), "/article?id=5"),
        ],
    )
    def test_declared_urls_can_mislead(self, options: Options, wanted: str) -> None:
        with DynamicSite(options) as site:
            page = body(f"{site.url}article?id=4")
        assert f'rel="canonical" href="{wanted}"' in page


class TestRepeatable:
    @pytest.mark.parametrize("name", ALIASES)
    def test_two_sites_differ_in_nothing_but_session_ids_and_ports(self, name: str) -> None:
        served = []
        for _ in range(2):
            with DynamicSite(ALIASES[name]) as site:
                pages = [body(f"{site.url}{path}") for path in ("", "board/1/", "article?id=3")]
            port = str(urlsplit(site.url).port)
            served.append([re.sub(f"[0-9a-f]{{10}}|{port}", "", page) for page in pages])
        assert served[0] == served[1]

    def test_another_seed_makes_other_texts(self) -> None:
        pages = []
        for seed in (1, 2):
            with DynamicSite(replace(SMALL, seed=seed)) as site:
                pages.append(says(body(f"{site.url}article?id=3")))
        assert not pages[0] & pages[1]


class TestParts:
    @pytest.mark.parametrize(
        ("first", "second", "same"),
        [
            ("/list?view=grid&page=2", "/list?view=grid&page=3", True),
            ("/list?page=2", "/list?view=grid", True),
            ("/list?view=list&page=2", "/list?view=list&page=3", False),
            ("/term?id=1&hl=de", "/term?id=1&hl=fr", True),
            ("/term?id=1&hl=de&q=rope", "/term?id=1&hl=fr&q=rope", False),
            ("/entry?id=21&edition=1", "/entry?id=21&edition=3", True),
            ("/entry?id=20&edition=1", "/entry?id=20&edition=3", False),
            ("/calendar?month=1999-01", "/calendar?month=2041-07", True),
            ("/calendar?month=2026-01", "/calendar?month=2026-02", False),
            ("/maze/a/b/a/", "/maze/b/b/b/b/a/", True),
            ("/maze/a/b/", "/maze/a/", False),
            ("/goods?colour=red&size=m", "/goods?size=m&colour=red", True),
            ("/goods?colour=red", "/goods?colour=blue", False),
            ("/ticket?id=3", "/ticket?id=4", True),
            ("/ticket?id=49", "/ticket?id=3", False),
            ("/member?id=3", "/member?id=4", True),
            ("/member?id=29", "/member?id=4", False),
            ("/gone/1", "/gone?id=2", True),
        ],
    )
    def test_which_arguments_matter(self, first: str, second: str, same: bool) -> None:
        with DynamicSite(replace(SMALL, parts=tuple(PARTS))) as site:
            assert (site.content_of(first) == site.content_of(second)) is same
            if site.content_of(first) != "error":
                pages = [body(urljoin(site.url, target)) for target in (first, second)]
                assert (says(pages[0]) == says(pages[1])) is same

    def test_the_calendar_goes_on(self) -> None:
        with DynamicSite(replace(SMALL, parts=("calendar",))) as site:
            url = links(site.url)[0]
            for _ in range(40):
                url = links(url)[-1]
            assert site.content_of(url) == "month without events"

    def test_moody_pages_change_at_each_fetch(self) -> None:
        with DynamicSite(replace(SMALL, parts=("lucky", "fresh"))) as site:
            lucky = {says(body(f"{site.url}lucky?n=7")) for _ in range(60)}
            fresh = {says(body(f"{site.url}fresh?n=7")) for _ in range(20)}
        assert len(lucky) == 5
        assert len(fresh) == 20

    @pytest.mark.parametrize("soft", [True, False])
    def test_what_does_not_exist_has_one_text(self, soft: bool) -> None:
        with DynamicSite(replace(SMALL, soft_errors=soft)) as site:
            if soft:
                assert says(body(f"{site.url}x")) == says(body(f"{site.url}article?id=999"))
            else:
                with pytest.raises(HTTPError, match="404") as caught:
                    body(f"{site.url}x")
                caught.value.close()

    def test_members_are_asked_to_log_in(self) -> None:
        with DynamicSite(replace(SMALL, parts=("members",))) as site:
            assert 'type="password"' in body(f"{site.url}member?id=3")
