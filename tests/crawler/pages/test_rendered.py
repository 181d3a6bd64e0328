"""The choice between a page as it came and as a browser shows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.pages.reasons import Reason, codes
from crawler.pages.rendered import choose, has_other_words, lacks_words, leads_on, says_other
from crawler.reading.link_kinds import ROUTE
from crawler.reading.reading import Link
from tests.crawler.reading.pools import ONE, read, use
from tests.sites.prose import document, prose

if TYPE_CHECKING:
    from crawler.reading.reading import Reading

SHELL = b'<title>App</title><body><div id="root"></div><script src="/a.js"></script></body>'
CAME = document("A page", f"<p>{prose('what came', 200)}</p><a href=/came>on</a>")
SHOWN = document("A page", f"<p>{prose('what is shown', 220)}</p><a href=/shown>on</a>")
OTHER = document("A page", f"<p>{prose('what came', 160)} {prose('what else', 40)}</p>")
FEWER = document("A page", f"<p>{prose('wholly other', 120)}</p>")
ERROR = b"<title>App</title><body><h1>Something went wrong</h1><p>Try again later.</p></body>"


@pytest.fixture(scope="module")
def readings() -> dict[bytes, Reading]:
    async def read_all(pool):  # type: ignore[no-untyped-def]
        return {body: await read(pool, body) for body in (SHELL, CAME, SHOWN, OTHER, FEWER, ERROR)}

    return use(ONE, read_all)


def names(links: tuple[Link, ...]) -> set[str]:
    return {link.url.rpartition("/")[2] for link in links}


def test_a_shell_is_what_the_browser_shows(readings: dict[bytes, Reading]) -> None:
    found = choose(readings[SHELL], readings[SHOWN], SHOWN)
    assert found.is_taken
    assert found.reading.text == readings[SHOWN].text
    assert found.document == SHOWN


def test_a_shell_that_stays_one_is_left_as_it_is(readings: dict[bytes, Reading]) -> None:
    shown = SHELL
    found = choose(readings[SHELL], readings[shown], shown, ("subrequest failed",))
    assert not found.is_taken
    assert found.reading.is_app_shell
    assert Reason.NOT_RENDERED in codes(found.reason)
    assert "subrequest failed" in found.reason


@pytest.mark.parametrize("lacks", [(), ("subrequest failed",)])
def test_what_is_shown_in_part_is_taken_and_said_to_be(
    readings: dict[bytes, Reading], lacks: tuple[str, ...]
) -> None:
    found = choose(readings[SHELL], readings[ERROR], ERROR, lacks)
    assert found.is_taken
    assert found.is_whole == (not lacks)
    assert (Reason.RENDERED_IN_PART in codes(found.reason)) == bool(lacks)


@pytest.mark.parametrize("lacks", [(), ("time",)])
def test_a_page_that_shows_less_is_whole_unless_something_is_missing(
    readings: dict[bytes, Reading], lacks: tuple[str, ...]
) -> None:
    found = choose(readings[CAME], readings[SHELL], SHELL, lacks)
    assert not found.is_taken
    assert found.is_whole == (not lacks)


def test_no_words_are_lost_by_a_browser(readings: dict[bytes, Reading]) -> None:
    found = choose(readings[CAME], readings[ERROR], ERROR)
    assert not found.is_taken
    assert found.reading.text == readings[CAME].text


@pytest.mark.parametrize("came", [CAME, SHELL])
@pytest.mark.parametrize("shown", [SHOWN, ERROR, SHELL])
def test_no_link_is_lost_by_a_browser(
    readings: dict[bytes, Reading], came: bytes, shown: bytes
) -> None:
    route = Link("http://host.example/a/route", b"route".ljust(16), nofollow=False, kind=ROUTE)
    found = choose(readings[came], readings[shown], shown, routes=(route,))
    expected = names(readings[came].links) | names(readings[shown].links) | {"route"}
    assert names(found.reading.links) == expected
    assert len({link.key for link in found.reading.links}) == len(found.reading.links)


def test_a_link_to_a_page_not_met_yet_leads_on(readings: dict[bytes, Reading]) -> None:
    with_link = replace(readings[CAME], links=readings[CAME].links + readings[SHOWN].links)
    assert leads_on(readings[CAME], with_link, lambda link: link.url.endswith("/shown"))
    assert not leads_on(readings[CAME], with_link, lambda link: link.url.endswith("/came"))


def test_other_words_are_other_though_they_are_as_many(readings: dict[bytes, Reading]) -> None:
    assert says_other(readings[SHELL], readings[SHOWN])
    assert says_other(readings[CAME], readings[OTHER])
    assert not says_other(readings[CAME], readings[CAME])


@given(st.lists(st.sampled_from("abcde"), max_size=80), st.lists(st.sampled_from("abcde")))
def test_words_are_counted_as_in_two_bags(before: list[str], now: list[str]) -> None:
    ours, theirs = Counter(before), Counter(now)
    assert lacks_words(" ".join(before), " ".join(now)) == bool(ours - theirs)
    more = (theirs - ours).total()
    assert has_other_words(" ".join(before), " ".join(now)) == (more >= max(20, len(before) / 10))


def test_a_frame_in_whose_place_other_words_come_is_taken(readings: dict[bytes, Reading]) -> None:
    found = choose(readings[CAME], readings[FEWER], FEWER)
    assert found.is_taken
    assert found.is_whole
