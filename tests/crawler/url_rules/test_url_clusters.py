"""Clusters of URLs: when they are asked for last, or not at all, and when again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.kinds import CLOSED, NEW_TEXT, OPEN, SLOW, ClusterNames
from crawler.url_rules.learning.address import Address
from crawler.url_rules.traps import UrlCluster
from tests.crawler.url_rules.learning.strategies import addresses


def cluster(*news: bool, budget: int = 0) -> UrlCluster:
    made = UrlCluster(1, "h.org/x")
    for is_new in news:
        made.met += 1  # and each page leads to another one
        made.note(is_new=is_new, budget=budget)
    return made


def recounted(news: list[bool], budget: int) -> str:
    """The state by counting everything anew after each page."""
    state = OPEN
    for seen in range(1, len(news) + 1):
        before = news[:seen]
        lately = sum(before[-40:])
        if budget and seen >= budget:
            state = CLOSED
        elif state == CLOSED and not before[-1]:
            continue
        elif seen >= 300 and not any(before[-300:]):
            state = CLOSED
        elif (seen >= 40 or state != OPEN) and lately <= (2 if state == OPEN else 8):
            state = SLOW
        else:
            state = OPEN
    return state


# Long runs, since it is those that change a state.
runs = st.lists(
    st.tuples(st.booleans(), st.integers(1, 320)).map(lambda run: [run[0]] * run[1])
    | st.lists(st.booleans(), max_size=30),
    max_size=6,
).map(lambda several: [page for run in several for page in run])


class TestClusterProperties:
    @given(runs, st.sampled_from([0, 0, 25, 400]))
    def test_the_state_is_that_which_a_recount_gives(self, news: list[bool], budget: int) -> None:
        made = cluster(*news, budget=budget)
        assert made.state == recounted(news, budget)
        assert (made.tried, made.gained) == (len(news), sum(news))
        assert (made.reason is None) is (made.state == OPEN)

    @given(runs, st.integers(0, 20))
    def test_what_leads_to_few_others_is_not_closed(self, news: list[bool], links: int) -> None:
        """It comes to an end by itself, and what is left of it may be new."""
        made = UrlCluster(1, "h.org/x", met=links)
        for is_new in news:
            made.note(is_new=is_new)
        assert made.state != CLOSED

    @given(runs)
    def test_a_change_of_state_is_told(self, news: list[bool]) -> None:
        made = UrlCluster(1, "h.org/x")
        for is_new in news:
            before = made.state
            assert made.note(is_new=is_new) is (made.state != before)

    @given(st.integers(1, 300), st.integers(0, 299))
    def test_one_new_page_in_three_hundred_keeps_it_from_being_closed(
        self, every: int, first: int
    ) -> None:
        made = UrlCluster(1, "h.org/x")
        for page in range(1_500):
            made.note(is_new=page % every == first % every)
            assert made.state != CLOSED

    @given(runs, st.integers(0, 2**32))
    def test_what_is_not_tried_now_is_not_tried_later(self, news: list[bool], number: int) -> None:
        """While nothing new comes, at least: so fewer and fewer URLs are."""
        made = cluster(*news, *[False] * 300)
        shares = []
        for _ in range(4):
            shares.append(
                sum(made.is_sampled(NEW_TEXT, n) for n in range(number, number + 6_000)) / 6_000
            )
            for _ in range(600):
                made.note(is_new=False)
        assert shares == sorted(shares, reverse=True)
        assert shares[-1] < shares[0] <= 1 / 20 + 0.001
        assert shares[-1] > 0


class TestStates:
    def test_pages_that_are_new_keep_it_open(self) -> None:
        assert cluster(*[True] * 500).state == OPEN

    def test_few_new_ones_make_it_slow_and_more_open_it(self) -> None:
        made = cluster(*[True] * 50, *[False] * 37)
        assert made.state == OPEN
        made.note(is_new=False)
        assert made.state == SLOW
        for _ in range(8):
            made.note(is_new=True)
        assert made.state == SLOW
        made.note(is_new=True)
        assert (made.state, made.reason) == (OPEN, None)

    def test_a_new_page_opens_a_closed_one_again(self) -> None:
        made = cluster(True, *[False] * 300)
        assert (made.state, made.reason) == (CLOSED, "none of its last 300 pages was new")
        assert made.note(is_new=True)
        assert made.state == SLOW

    def test_a_budget_that_is_spent_closes_it_for_good(self) -> None:
        made = cluster(*[True] * 20, budget=20)
        assert (made.state, made.reason) == (CLOSED, "its budget of 20 pages is spent")
        assert not made.note(is_new=True, budget=20)

    @pytest.mark.parametrize("links", [3, 31, 200])
    def test_a_trap_ends_however_many_links_each_page_has(self, links: int) -> None:
        made, waiting, fetched, number = cluster(*[False] * 300), links, 300, 0
        while waiting and fetched < 20_000:
            waiting -= 1
            number += 1
            if made.is_sampled(NEW_TEXT, number * 2_654_435_761 % 2**32):
                fetched += 1
                waiting += links
                made.note(is_new=False)
        assert waiting == 0
        assert fetched < 300 + 40 * links


def name(url: str, names: ClusterNames | None = None) -> str:
    return (names or ClusterNames())(Address.parse(f"http://h.org{url}"))


class TestClusterNames:
    @pytest.mark.parametrize(
        ("url", "wanted"),
        [
            ("/", "h.org/"),
            ("/calendar?month=2026-01&view=x", "h.org/calendar?month=&view="),
            ("/calendar/2026-01", "h.org/calendar/#"),
            ("/list?k17=1", "h.org/list?k#="),
            ("/list?17", "h.org/list?#="),
            ("/list?a[17]=1&a[18]=1&b=2", "h.org/list?a[#]=&b="),
            ("/list?a%5B17%5D=1", "h.org/list?a%5B#%5D="),
            ("/t12.html", "h.org/#.html"),
            ("/a/b/c/d/e/f", "h.org/a/b/c/d/e/**"),
            ("/maze/a/b/a/b/", "h.org/maze/a/b/a/b/**"),
            ("/maze/a/b/a/b/a/", "h.org/maze/**"),
            ("/maze/b/b/b", "h.org/maze/**"),
            ("/a/x/a/x/a/x", "h.org/**"),
            ("/2026/1/1/1", "h.org/#/**"),
            ("/a//b////c", "h.org/a//b///**"),
            ("/?" + "&".join("abcdefghijklmn"), "h.org/?a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&k=&l=&**"),
        ],
    )
    def test_the_name_says_what_the_urls_have_in_common(self, url: str, wanted: str) -> None:
        assert name(url) == wanted

    def test_names_that_are_many_are_one_kind_and_numbers_another(self) -> None:
        names = ClusterNames()
        letters = "abcdefghij"
        found = [name(f"/wiki/{a}{b}", names) for a in letters for b in letters]
        assert len(set(found[:40])) == 40
        assert set(found[40:]) == {"h.org/wiki/*"}
        assert name("/wiki/12", names) == "h.org/wiki/#"

    def test_what_was_found_before_goes_on(self) -> None:
        names = ClusterNames()
        for known in ("h.org/wiki/*", "h.org/day/#", "h.org/maze/**", "h.org/x?a="):
            names.remember(known)
        assert name("/wiki/new", names) == "h.org/wiki/*"
        assert name("/day/about", names) == "h.org/day/about"
        assert name("/maze/about", names) == "h.org/maze/about"
        assert name("/y", names) == "h.org/y"

    def test_hosts_are_bounded(self) -> None:
        names = ClusterNames(most_hosts=3)
        for number in range(10):
            names(Address.parse(f"http://h{number}.org/x"))
        assert list(names._patterns) == ["h7.org", "h8.org", "h9.org"]

    def test_names_of_arguments_that_are_many_are_one_kind(self) -> None:
        names = ClusterNames()
        letters = "abcdefghij"
        found = [name(f"/x?{a}{b}=1", names) for a in letters for b in letters]
        assert len(set(found[:40])) == 40
        assert set(found[40:]) == {"h.org/x?*="}
        assert name("/y?new=1", names) == "h.org/y?new="
        again = ClusterNames()
        again.remember("h.org/x?*=")
        assert name("/x?new=1", again) == "h.org/x?*="

    @pytest.mark.parametrize(
        ("hosts", "kind"),
        [
            ([f"h{n}.site.com" for n in range(60)], "h#.site.com"),
            ([f"h{n}.x{n}.site.test" for n in range(60)], "h#.x#.site.test"),
            ([f"{a}{b}.site.co.uk" for a in "abcdefgh" for b in "abcdefgh"], "*.site.co.uk"),
            ([f"site.com:{8000 + n}" for n in range(60)], "site.com:#"),
            ([f"127.0.0.1:{8000 + n}" for n in range(60)], "127.0.0.1:#"),
        ],
    )
    def test_hosts_are_one_kind_where_they_are_many(self, hosts: list[str], kind: str) -> None:
        names = ClusterNames()
        found = [names(Address.parse(f"http://{host}/x")) for host in hosts]
        assert found[:40] == [f"{host}/x" for host in hosts[:40]]
        assert set(found[40:]) == {f"{kind}/x"}
        again = ClusterNames()
        again.remember(f"{kind}/x")
        assert again(Address.parse(f"http://{hosts[0]}/x")) == f"{kind}/x"

    def test_what_belongs_to_others_is_of_another_kind(self) -> None:
        names = ClusterNames()
        hosts = [*(f"site{n}.com" for n in range(60)), *(f"10.0.0.{n}" for n in range(60))]
        hosts += [f"site{n}.co.uk" for n in range(60)] + [f"host{n}" for n in range(60)]
        assert [names(Address.parse(f"http://{host}/x")) for host in hosts] == [
            f"{host}/x" for host in hosts
        ]

    @given(st.lists(addresses, max_size=8))
    def test_addresses_of_one_name_have_one_host_and_the_same_arguments(
        self, some: list[Address]
    ) -> None:
        names = ClusterNames()
        found: dict[str, tuple[str, frozenset[str]]] = {}
        for address in some:
            kinds = frozenset(re.sub("[0-9]+", "#", name) for name in address.names)
            key = (address.host, kinds)
            assert found.setdefault(names(address), key) == key
