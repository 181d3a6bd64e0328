"""Pages that would teach a wrong rule to whoever believes too soon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import SystemRandom
from typing import TYPE_CHECKING

from tests.sites.dynamic.addresses import Address
from tests.sites.dynamic.page import Link, Page
from tests.sites.dynamic.texts import drawn, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.dynamic.options import Options

LIVE_EVERY = 50
"""Of so many tickets one exists."""
OPEN_EVERY = 30
"""Of so many members one shows a page to everybody."""
LISTED = 50
FORM = '<form method="post"><input name="user"><input name="word" type="password"></form>'


class _Listed(ABC):
    """Numbered pages, and pages ``?page=N`` that link to them, ``LISTED`` on each."""

    name: str
    count: int

    def __init__(self, options: Options) -> None:
        self._options = options
        self.count = options.size

    def entries(self) -> Iterator[Address]:
        yield Address.of(f"/{self.name}s", page=0)

    def truth(self) -> Iterator[str]:
        yield from (f"{self.name}s {page}" for page in self._pages())

    def answer(self, address: Address) -> Page | None:
        number, page = address.number("id"), address.number("page", 0)
        if address.path == f"/{self.name}" and 0 <= number < self.count:
            return self._one(number)
        if address.path != f"/{self.name}s" or page not in self._pages():
            return None
        first = page * LISTED
        shown = range(first, min(first + LISTED, self.count))
        links = [Link(Address.of(f"/{self.name}", id=one), f"Number {one}") for one in shown]
        if page + 1 in self._pages():
            links.append(Link(Address.of(f"/{self.name}s", page=page + 1), "More"))
        return self._page(f"{self.name}s {page}", links=tuple(links))

    def _pages(self) -> range:
        return range((self.count + LISTED - 1) // LISTED)

    @abstractmethod
    def _one(self, number: int) -> Page:
        """Return a page by its number, which is below the count."""

    def _page(self, content: str, links: tuple[Link, ...] = (), markup: str = "") -> Page:
        body = (text(content, self._options.seed),)
        return Page(content, content.title(), body, links, markup=markup)


class Tickets(_Listed):
    """``/ticket?id=N``: nearly all are gone, which one and the same page says with status 200."""

    name = "ticket"

    def truth(self) -> Iterator[str]:
        yield from super().truth()
        yield from (f"ticket {n}" for n in range(self.count) if self._is_live(n))

    def _is_live(self, number: int) -> bool:
        # Late in its page: those that are gone come first.
        return number % LIVE_EVERY == LIVE_EVERY - 1

    def _one(self, number: int) -> Page:
        return self._page(f"ticket {number}" if self._is_live(number) else "no such ticket")


class Members(_Listed):
    """``/member?id=N``: nearly all want a login first."""

    name = "member"

    def truth(self) -> Iterator[str]:
        yield from super().truth()
        yield from (f"member {n}" for n in range(self.count) if self._is_open(n))

    def _is_open(self, number: int) -> bool:
        return number % OPEN_EVERY == OPEN_EVERY - 1

    def _one(self, number: int) -> Page:
        if self._is_open(number):
            return self._page(f"member {number}")
        return self._page("login", markup=FORM)


class Missing(_Listed):
    """Links to pages that do not exist, ``/gone/N`` and ``/gone?id=N``."""

    name = "gone"

    def answer(self, address: Address) -> Page | None:
        page = super().answer(address)
        if page is None or address.path == f"/{self.name}":
            return None
        shown = [link.to for link in page.links if isinstance(link.to, Address)]
        lost = tuple(Link(f"/gone/{to.get('id')}", to.slug) for to in shown if to.get("id"))
        return self._page(page.content, (*page.links, *lost))

    def _one(self, number: int) -> Page:
        return self._page(f"gone {number}")


class _Moody(ABC):
    """Pages that say something else at each fetch; what they say is no truth."""

    name: str

    def __init__(self, options: Options) -> None:
        self._options = options
        self._chance = SystemRandom()

    def entries(self) -> Iterator[Address]:
        yield Address.of(f"/{self.name}", n=0)

    def truth(self) -> Iterator[str]:
        return iter(())

    def answer(self, address: Address) -> Page | None:
        number = address.number("n")
        if address.path != f"/{self.name}" or not 0 <= number < self._options.size:
            return None
        others = [other for other in range(number + 1, number + 4) if other < self._options.size]
        links = tuple(Link(Address.of(f"/{self.name}", n=other), str(other)) for other in others)
        return Page(self.name, self.name.title(), (self._says(),), links)

    @abstractmethod
    def _says(self) -> str:
        """Return the text of one fetch."""


class Lucky(_Moody):
    """``/lucky?n=N`` shows one of a few texts, whatever N is."""

    name = "lucky"
    TEXTS = 5

    def _says(self) -> str:
        return text(f"lucky {self._chance.randrange(self.TEXTS)}", self._options.seed)


class Fresh(_Moody):
    """``/fresh?n=N`` shows a text that nobody has seen before."""

    name = "fresh"

    def _says(self) -> str:
        return drawn(self._chance, 120)
