"""A site of many small pages in memory, which counts what it is asked for."""

from __future__ import annotations

from collections import Counter
from threading import Condition
from typing import TYPE_CHECKING

from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.sites.serving import Request

BRANCHES = 10
TWIN_EVERY = 20
"""So often a page says, in other bytes, what the page before it says."""


def page_path(number: int) -> str:
    return f"/{number}.html" if number else "/"


def page_text(number: int) -> str:
    """What a page says, the same for twins."""
    is_twin = number and number % TWIN_EVERY == 0
    return prose(f"page {number - 1 if is_twin else number}", 120)


def pages(count: int) -> dict[str, bytes]:
    """A tree of pages, each with links to its children and to a page far away."""
    return {page_path(number): _page(number, count) for number in range(count)}


def _page(number: int, count: int) -> bytes:
    first = number * BRANCHES + 1
    linked = [*range(first, min(first + BRANCHES, count)), (number * 7 + 3) % count]
    links = "".join(f'<a href="{page_path(to)}">{to}</a> ' for to in linked)
    return (
        f"<!DOCTYPE html><!-- {number} --><html lang=en><title>Many</title><body><main><article>"
        f"<h1>Many</h1><p>{page_text(number)}</p></article></main><nav>{links}</nav></body></html>"
    ).encode()


class ManyPages(MadeSite):
    """Serves pages on a loopback port while a ``with`` block lasts.

    Args:
        pages: Body by path; may be changed at any time.
        port: Port to serve at; any that is free where it is 0.
    """

    def __init__(self, pages: Mapping[str, bytes], *, port: int = 0) -> None:
        super().__init__(port=port)
        self.pages = dict(pages)
        self._asked: Counter[str] = Counter()
        self._limit: int | None = None
        self._changed = Condition()

    @property
    def asked(self) -> Counter[str]:
        """How often each page was asked for so far."""
        with self._changed:
            return +self._asked

    @property
    def total(self) -> int:
        """How often pages were asked for so far."""
        with self._changed:
            return self._asked.total()

    def hold_after(self, limit: int | None) -> None:
        """Answer no more than so many requests, and let the others wait; None for all."""
        with self._changed:
            self._limit = limit
            self._changed.notify_all()

    def answer(self, path: str) -> bytes | None:
        body = self.pages.get(path)
        if body is not None:
            with self._changed:
                self._asked[path] += 1
                number = self._asked.total()
                self._changed.wait_for(lambda: self._limit is None or number <= self._limit)
        return body

    def respond(self, request: Request) -> Response:
        body = self.answer(request.target)
        return NOT_FOUND if body is None else Response(body)

    def __exit__(self, *exc: object) -> None:
        self.hold_after(None)
        super().__exit__(*exc)
