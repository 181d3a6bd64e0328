"""The choice between a page as it came and as a browser shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.pages.reasons import Reason, codes
from crawler.pages.rendered import choose, shows_more
from crawler.reading.link_kinds import ROUTE
from crawler.reading.reading import Link
from tests.crawler.reading.pools import ONE, read, use
from tests.sites.prose import document, prose

if TYPE_CHECKING:
    from crawler.reading.reading import Reading

SHELL = b'<title>App</title><body><div id="root"></div><script src="/a.js"></script></body>'
CAME = document("A page", f"<p>{prose('what came', 200)}</p><a href=/came>on</a>")
SHOWN = document("A page", f"<p>{prose('what is shown', 220)}</p><a href=/shown>on</a>")
ERROR = b"<title>App</title><body><h1>Something went wrong</h1><p>Try again later.</p></body>"


@pytest.fixture(scope="module")
def readings() -> dict[bytes, Reading]:
    async def read_all(pool):  # type: ignore[no-untyped-def]
        return {body: await read(pool, body) for body in (SHELL, CAME, SHOWN, ERROR)}

    return use(ONE, read_all)


def names(links: tuple[Link, ...]) -> set[str]:
    return {link.url.rpartition("/")[2] for link in links}


def test_a_shell_is_what_the_browser_shows(readings: dict[bytes, Reading]) -> None:
    found = choose(readings[SHELL], readings[SHOWN], SHOWN)
    assert found.is_taken
    assert found.reading.text == readings[SHOWN].text
    assert found.payload != choose(readings[SHELL], readings[SHOWN], SHOWN + b" ").payload


@pytest.mark.parametrize("shown", [SHELL, ERROR])
def test_a_shell_that_could_not_load_is_left_as_it_is(
    readings: dict[bytes, Reading], shown: bytes
) -> None:
    found = choose(readings[SHELL], readings[shown], shown, missed=("subrequest failed",))
    assert not found.is_taken
    assert found.reading.is_app_shell
    assert Reason.NOT_RENDERED in codes(found.reason)
    assert "subrequest failed" in found.reason


def test_a_short_page_that_missed_nothing_is_taken(readings: dict[bytes, Reading]) -> None:
    assert choose(readings[SHELL], readings[ERROR], ERROR).is_taken


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


def test_more_words_or_a_new_link_are_more(readings: dict[bytes, Reading]) -> None:
    assert shows_more(readings[SHELL], readings[SHOWN], lambda _: False)
    assert not shows_more(readings[CAME], readings[CAME], lambda _: True)
    assert not shows_more(readings[SHOWN], readings[CAME], lambda _: False)
    assert shows_more(readings[SHOWN], readings[CAME], lambda link: link.url.endswith("/came"))
