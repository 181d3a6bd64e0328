"""Arguments that matter only beside another one, or on a few pages only."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tests.sites.dynamic.addresses import Address
from tests.sites.dynamic.page import Link, Page
from tests.sites.dynamic.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.dynamic.options import Options

LANGUAGES = ("en", "de", "fr")
WORDS = ("rope", "tide", "lamp")
EDITIONS = 3
EDITED_EVERY = 20
"""Of so many entries one has editions that differ."""


class Views:
    """``/list?view=V&page=N``: in the view ``grid`` everything stands on one page."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._pages = max(2, options.size // 10)

    def entries(self) -> Iterator[Address]:
        yield Address.of("/list", view="grid")

    def truth(self) -> Iterator[str]:
        yield "grid"
        yield from (f"list {page}" for page in range(1, self._pages + 1))

    def answer(self, address: Address) -> Page | None:
        page = address.number("page", 1)
        if address.path != "/list" or not 1 <= page <= self._pages:
            return None
        is_grid = address.get("view", "grid") == "grid"
        content = "grid" if is_grid else f"list {page}"
        shown = product(("grid", "list"), range(1, self._pages + 1))
        links = tuple(Link(Address.of("/list", view=v, page=n), f"{v} {n}") for v, n in shown)
        return Page(content, content.title(), (text(content, self._options.seed),), links)


class Terms:
    """``/term?id=N&q=WORD&hl=LANGUAGE``: the language is that of the words looked for."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._terms = max(2, options.size // 10)

    def entries(self) -> Iterator[Address]:
        yield from (Address.of("/term", id=number) for number in range(self._terms))

    def truth(self) -> Iterator[str]:
        for number in range(self._terms):
            yield f"term {number}"
            yield from (f"term {number} {word} {hl}" for word, hl in product(WORDS, LANGUAGES))

    def answer(self, address: Address) -> Page | None:
        number, word = address.number("id"), address.get("q")
        if address.path != "/term" or not 0 <= number < self._terms or word not in ("", *WORDS):
            return None
        language = address.get("hl", LANGUAGES[0])
        content = f"term {number} {word} {language}" if word else f"term {number}"
        here = Address.of("/term", id=number)
        links = [Link(here.having(hl=hl), hl) for hl in LANGUAGES]
        links += [
            Link(here.having(q=other, hl=hl), f"{other}, {hl}")
            for other, hl in product(WORDS, LANGUAGES)
        ]
        return Page(content, f"Term {number}", (text(content, self._options.seed),), tuple(links))


class Editions:
    """``/entry?id=N&edition=E``: nearly all entries are the same in each edition."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def entries(self) -> Iterator[Address]:
        yield Address.of("/entry", id=1)

    def truth(self) -> Iterator[str]:
        for number in range(1, self._options.size + 1):
            yield from dict.fromkeys(self._content(number, one + 1) for one in range(EDITIONS))

    def answer(self, address: Address) -> Page | None:
        number, edition = address.number("id"), address.number("edition", 1)
        if address.path != "/entry" or not 1 <= number <= self._options.size:
            return None
        if not 1 <= edition <= EDITIONS:
            return None
        content = self._content(number, edition)
        others = [Address.of("/entry", id=number, edition=one + 1) for one in range(EDITIONS)]
        others += [
            Address.of("/entry", id=other)
            for other in (number + 1, number + 2, number + 10)
            if other <= self._options.size
        ]
        links = tuple(Link(other, other.slug) for other in others)
        return Page(content, f"Entry {number}", (text(content, self._options.seed),), links)

    def _content(self, number: int, edition: int) -> str:
        is_edited = number % EDITED_EVERY == 0 and edition > 1
        return f"entry {number}, edition {edition}" if is_edited else f"entry {number}"
