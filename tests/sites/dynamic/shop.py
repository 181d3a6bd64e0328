"""Boards with pages of listings, their articles, a version of each to be printed, authors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.dynamic.addresses import Address
from tests.sites.dynamic.page import Link, Page
from tests.sites.dynamic.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.sites.dynamic.options import Options

ORDERS = ("date", "title", "replies")


class Shop:
    """``/board/B/?start=N&sort=S``, ``/article?id=N``, ``/print?id=N``, ``/author?id=N``.

    Sorted by date unless the address says otherwise; the order is that on one page, so that a
    listing has the same entries in each.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._count = options.boards * options.articles

    def entries(self) -> Iterator[Address]:
        for board in range(self._options.boards):
            yield Address.of(f"/board/{board}/")

    def truth(self) -> Iterator[str]:
        for board in range(self._options.boards):
            for start in self._starts():
                yield f"board {board} from {start}"
        yield from (f"article {number}" for number in range(self._count))
        yield from (f"author {number}" for number in range(self._options.authors))

    def answer(self, address: Address) -> Page | None:
        number = address.number("id")
        if address.path in {"/article", "/print"} and 0 <= number < self._count:
            is_bare = address.path == "/print"
            if not is_bare or self._options.prints:
                return self._article(number, is_bare=is_bare)
        if address.path == "/author" and 0 <= number < self._options.authors:
            return self._author(number)
        board = address.path.removeprefix("/board/").removesuffix("/")
        if address.path == f"/board/{board}/" and board in map(str, range(self._options.boards)):
            return self._listing(int(board), address)
        return None

    def _starts(self) -> range:
        return range(0, self._options.articles, self._options.page_size)

    def _listing(self, board: int, address: Address) -> Page | None:
        start, order = address.number("start", 0), address.get("sort", ORDERS[0])
        if start not in self._starts() or order not in ORDERS:
            return None
        first = board * self._options.articles
        shown = list(range(first + start, first + start + self._options.page_size))
        shown = [number for number in shown if number < first + self._options.articles]
        if order != ORDERS[0]:
            shown.sort(key=lambda number: self._text(f"{order} {number}"))
        content = f"board {board} from {start}"
        return Page(
            content=content,
            title=f"Board {board}",
            paragraphs=(self._text(content, 100), *(self._teaser(number) for number in shown)),
            links=(*self._board_links(board, start, order), *map(self._article_link, shown)),
            canonical=self._canonical(Address.of(f"/board/{board}/", start=start)),
        )

    def _teaser(self, number: int) -> str:
        words = self._text(f"article {number}").split()[:25]
        return f"Article {number}: {' '.join(words)} ..."

    def _board_links(self, board: int, start: int, order: str) -> Iterable[Link]:
        here = Address.of(f"/board/{board}/")
        kept = here if order == ORDERS[0] else here.having(sort=order)
        yield Link(Address("/"), "Home")
        for place, other in enumerate(self._starts()):
            if other or self._options.zero_starts:
                yield Link(kept.having(start=other), f"Page {place + 1}")
        if self._options.zero_starts:
            yield Link(kept, "First page")
        for other_order in ORDERS if self._options.sorts else ():
            yield Link(here.having(start=start, sort=other_order), f"By {other_order}")

    def _article_link(self, number: int) -> Link:
        return Link(Address.of("/article", id=number), f"Article {number}")

    def _article(self, number: int, *, is_bare: bool) -> Page:
        size = self._options.articles
        board, place = divmod(number, size)
        links = [
            Link(Address("/"), "Home"),
            Link(self._board_page(board, place), "The board"),
            *(self._article_link(number + step) for step in (-1, 1) if 0 <= place + step < size),
        ]
        if self._options.authors:
            links.append(Link(Address.of("/author", id=number % self._options.authors), "Author"))
        if self._options.prints:
            links.append(Link(Address.of("/print", id=number), "To be printed"))
        return Page(
            content=f"article {number}",
            title=f"Article {number}",
            paragraphs=(self._text(f"article {number}"), self._text(f"article {number}, end", 60)),
            links=() if is_bare else tuple(links),
            canonical=self._canonical(
                Address.of("/article", id=number), Address.of("/article", id=number ^ 1)
            ),
            is_bare=is_bare,
        )

    def _board_page(self, board: int, place: int) -> Address:
        start = place - place % self._options.page_size
        here = Address.of(f"/board/{board}/")
        return here.having(start=start) if start or self._options.zero_starts else here

    def _author(self, number: int) -> Page:
        written = range(number, self._count, self._options.authors)[:5]
        return Page(
            content=f"author {number}",
            title=f"Author {number}",
            paragraphs=(self._text(f"author {number}"),),
            links=(Link(Address("/"), "Home"), *map(self._article_link, written)),
        )

    def _canonical(self, itself: Address, other: Address | None = None) -> str:
        declared = {"right": itself, "home": Address("/"), "loop": other}.get(
            self._options.canonical
        )
        if declared is None:
            return ""
        query = "&".join(f"{name}={value}" for name, value in declared.arguments)
        return f"{declared.path}?{query}" if query else declared.path

    def _text(self, name: str, words: int = 120) -> str:
        return text(name, self._options.seed, words)
