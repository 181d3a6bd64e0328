"""Places where links never end: a calendar, a maze of relative links, facets that combine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.sites.dynamic.addresses import Address
from tests.sites.dynamic.page import Link, Page
from tests.sites.dynamic.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.dynamic.options import Options

FIRST_YEAR = 2026
MONTHS_WITH_EVENTS = 12
FACETS = {
    "colour": ("red", "green", "blue", "grey"),
    "size": ("s", "m", "l", "xl"),
    "brand": ("oak", "elm", "ash", "yew"),
    "stock": ("now", "soon"),
}


class Calendar:
    """``/calendar?month=YYYY-MM``: a year with events, and empty months before and after it."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def entries(self) -> Iterator[Address]:
        yield Address.of("/calendar", month=f"{FIRST_YEAR}-01")

    def truth(self) -> Iterator[str]:
        yield "month without events"
        yield from (f"month {place}" for place in range(MONTHS_WITH_EVENTS))

    def answer(self, address: Address) -> Page | None:
        month = re.fullmatch(r"(\d{4,6})-(0[1-9]|1[0-2])", address.get("month"), re.ASCII)
        if address.path != "/calendar" or not month:
            return None
        place = (int(month[1]) - FIRST_YEAR) * 12 + int(month[2]) - 1
        has_events = 0 <= place < MONTHS_WITH_EVENTS
        content = f"month {place}" if has_events else "month without events"
        links = tuple(
            Link(Address.of("/calendar", month=_month(place + step)), label)
            for step, label in ((-1, "Before"), (1, "After"), (12, "In a year"))
            if place + step > -12 * FIRST_YEAR // 2
        )
        return Page(content, month[0], (text(content, self._options.seed),), links)


def _month(place: int) -> str:
    return f"{FIRST_YEAR + place // 12:04}-{place % 12 + 1:02}"


class Maze:
    """``/maze/a/b/a/...``: relative links lead ever deeper, to the same rooms."""

    ROOMS = ("a", "b")

    def __init__(self, options: Options) -> None:
        self._options = options

    def entries(self) -> Iterator[Address]:
        yield Address("/maze/")

    def truth(self) -> Iterator[str]:
        yield "maze"
        yield from (f"room {room}" for room in self.ROOMS)

    def answer(self, address: Address) -> Page | None:
        if not re.fullmatch("/maze/(?:[ab]/)*", address.path):
            return None
        room = address.path.removeprefix("/maze").strip("/")[-1:]
        content = f"room {room}" if room else "maze"
        links = tuple(Link(f"{other}/", f"Room {other}") for other in self.ROOMS)
        return Page(content, content.title(), (text(content, self._options.seed),), links)


class Facets:
    """``/goods?colour=red,blue&size=m``: any choice can be added to or taken from any other.

    The goods are all linked from the page without a choice; the truth counts no other listing.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._goods = max(4, options.size // 5)

    def entries(self) -> Iterator[Address]:
        yield Address("/goods")

    def truth(self) -> Iterator[str]:
        yield "all goods"
        yield from (f"good {number}" for number in range(self._goods))

    def answer(self, address: Address) -> Page | None:
        if address.path == "/good" and 0 <= address.number("id") < self._goods:
            content = f"good {address.number('id')}"
            body = (text(content, self._options.seed),)
            return Page(content, content.title(), body, (Link(Address("/goods"), "All goods"),))
        return self._listing(address) if address.path == "/goods" else None

    def _listing(self, address: Address) -> Page:
        chosen = {name: frozenset(filter(None, address.get(name).split(","))) for name in FACETS}
        shown = [number for number in range(self._goods) if self._fits(number, chosen)]
        is_all = len(shown) == self._goods
        content = "all goods" if is_all else f"goods {' '.join(map(str, shown))}"
        links = [Link(Address.of("/good", id=number), f"Good {number}") for number in shown]
        links += self._choices(address, chosen)
        teasers = tuple(text(f"good {n}", self._options.seed)[:200] for n in shown)
        return Page(content, "Goods", teasers or ("Nothing is like that.",), tuple(links))

    def _fits(self, number: int, chosen: dict[str, frozenset[str]]) -> bool:
        for name, values in FACETS.items():
            number, rest = divmod(number, len(values))
            if chosen[name] and values[rest] not in chosen[name]:
                return False
        return True

    def _choices(self, address: Address, chosen: dict[str, frozenset[str]]) -> Iterator[Link]:
        for name, values in FACETS.items():
            for value in values:
                # In the order in which they were chosen: one choice has many spellings.
                before = [one for one in address.get(name).split(",") if one and one != value]
                after = before if value in chosen[name] else [*before, value]
                kept = Address(address.path, tuple(p for p in address.arguments if p[0] in FACETS))
                yield Link(kept.having(**{name: ",".join(after)}), f"{name} {value}")
