"""Pages of templates, and the ways in which one page is shown twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from tests.sites.templates.wording import sentences

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence


class MadePage(NamedTuple):
    """A page with its truth: two pages of one identity are copies of each other."""

    url: str
    identity: str
    html: bytes
    way: str = ""
    """How it came to be a copy; empty for the page itself."""


@dataclass(frozen=True, slots=True)
class Showing:
    """How a thing is shown: what differs between two showings of one thing.

    Attributes:
        query: Arguments of the URL.
        session: Session id, in links and in a hidden field; empty: none.
        clock: When the page was made, told in the text; empty: not told.
        title_clock: The same in the title.
        visitors: Counter told in the text; 0: none.
        waiting: Number that begins the title, as messages that wait; 0: none.
        release: Version in the site's part of the title; empty: none.
        advertisement: Words of an advertisement; empty: none.
        prints: Whether it is the view for printing.
    """

    query: str = ""
    session: str = ""
    clock: str = ""
    title_clock: str = ""
    visitors: int = 0
    waiting: int = 0
    release: str = ""
    advertisement: str = ""
    prints: bool = False


def _tracked(showing: Showing, source: random.Random) -> Showing:
    return replace(showing, query=f"?utm_source=mail{source.randint(1, 99)}")


def _printed(showing: Showing, _: random.Random) -> Showing:
    return replace(showing, query="?print=1", prints=True)


def _in_session(showing: Showing, source: random.Random) -> Showing:
    return replace(showing, query="?s=1", session=f"{source.getrandbits(64):016x}")


def _later(showing: Showing, source: random.Random) -> Showing:
    return replace(showing, query="?r=1", clock=clock(source))


def _later_by_title(showing: Showing, source: random.Random) -> Showing:
    return replace(showing, query="?r=2", title_clock=clock(source))


def _more_visitors(showing: Showing, source: random.Random) -> Showing:
    return replace(showing, query="?r=3", visitors=source.randint(1_000, 90_000))


def _more_messages(showing: Showing, source: random.Random) -> Showing:
    return replace(showing, query="?r=4", waiting=showing.waiting + source.randint(1, 9))


def _newer(showing: Showing, source: random.Random) -> Showing:
    return replace(showing, query="?v=2", release=f"2.{source.randint(1, 30)}")


def _other_advertisement(showing: Showing, source: random.Random) -> Showing:
    return replace(showing, query="?ad=1", advertisement=sentences(source, 8))


WAYS: Mapping[str, Callable[[Showing, random.Random], Showing]] = {
    "tracking arguments": _tracked,
    "print view": _printed,
    "session id": _in_session,
    "clock in the text": _later,
    "clock in the title": _later_by_title,
    "visitors in the text": _more_visitors,
    "messages in the title": _more_messages,
    "release in the title": _newer,
    "another advertisement": _other_advertisement,
}
"""How a copy of a showing is made."""

_NEEDED = dict.fromkeys(WAYS, "") | {
    "clock in the text": "clock",
    "clock in the title": "title_clock",
    "visitors in the text": "visitors",
    "release in the title": "release",
}
"""What a template tells on every page, where another value of it is the way."""


def clock(source: random.Random) -> str:
    """Return a time of the day as pages tell it."""
    return f"{source.randint(0, 23):02}:{source.randint(0, 59):02}:{source.randint(0, 59):02}"


def first_showing(source: random.Random) -> Showing:
    """Return how a template shows its things for the first time."""
    return Showing(
        clock=clock(source) if source.random() < 1 / 3 else "",
        title_clock=clock(source) if source.random() < 1 / 6 else "",
        visitors=source.randint(1_000, 90_000) if source.random() < 1 / 3 else 0,
        waiting=source.randint(1, 9) if source.random() < 1 / 6 else 0,
        release="1.9" if source.random() < 1 / 4 else "",
        advertisement=sentences(source, 8),
    )


def with_copies(
    things: Sequence[str],
    showing: Showing,
    show: Callable[[str, Showing], MadePage],
    source: random.Random,
) -> Iterator[MadePage]:
    """Yield a page of each thing and, somewhere after, a second one of each tenth thing.

    Args:
        things: What the pages are about, each once.
        showing: How the template shows its things; clocks and counters go on from it.
        show: Makes the page of a thing.
        source: Chance.
    """
    waiting: list[MadePage] = []
    ways = [way for way, needed in _NEEDED.items() if not needed or getattr(showing, needed)]
    for number, thing in enumerate(things):
        mine = _gone_on(showing, source)
        yield show(thing, mine)
        if number % 10 == 3:
            way = ways[number // 10 % len(ways)]
            copied = show(thing, WAYS[way](_gone_on(showing, source), source))
            waiting.append(copied._replace(way=way))
        if waiting and source.random() < 0.1:
            yield waiting.pop(source.randrange(len(waiting)))
    yield from waiting


def _gone_on(showing: Showing, source: random.Random) -> Showing:
    """Return the showing some time later: what the template tells at all has changed."""
    return replace(
        showing,
        clock=showing.clock and clock(source),
        title_clock=showing.title_clock and clock(source),
        visitors=showing.visitors and showing.visitors + source.randint(1, 500),
        waiting=showing.waiting and source.randint(1, 9),
    )
