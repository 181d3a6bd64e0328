"""Sites that hand out a cookie to everybody, and what each of them does with it."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, OF_EVERY_HOST, MadeSite, Request, Response

if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTED = 10


class SessionSite(MadeSite):
    """Gives each visitor without a cookie one, and notes the pages that a session asked for.

    Args:
        pages: Number of pages.
        is_copied: Whether pages link to a second URL of each page too.
        words: Number of words of a page.

    Attributes:
        paths: The paths of all pages.
        asked: How often each target was asked for.
        unsent: How often each target was asked for without a cookie.
    """

    def __init__(self, pages: int, *, is_copied: bool = False, words: int = 30) -> None:
        super().__init__()
        self.paths = ["/", *(self.path_of(number) for number in range(1, pages))]
        self._is_copied, self._words = is_copied, words
        self.asked: Counter[str] = Counter()
        self.unsent: Counter[str] = Counter()
        self._numbers = count(1)
        self._sessions: dict[str, list[str]] = {}

    def path_of(self, number: int) -> str:
        return f"/p{number}"

    def respond(self, request: Request) -> Response | None:
        path = request.target.partition("?")[0]
        if path in OF_EVERY_HOST:
            return NOT_FOUND
        self.asked[request.target] += 1
        self.unsent[request.target] += not request.cookie
        session = request.cookie.partition("session=")[2]
        visited = self._sessions.setdefault(session or str(next(self._numbers)), [])
        headers = {} if session else {"Set-Cookie": f"session={[*self._sessions][-1]}; Path=/"}
        answer = self.answer(path, visited, is_known=bool(session))
        if answer is None and path not in self.paths:
            return NOT_FOUND
        if path in self.paths:
            visited[:] = [*(one for one in visited if one != path), path]
        return answer or Response(self.page(path, visited), headers=headers)

    def answer(self, path: str, visited: Sequence[str], *, is_known: bool) -> Response | None:
        """Return what is answered in place of a page; None: the page."""

    def page(self, path: str, visited: Sequence[str]) -> bytes:
        title = self.title(path)
        linked = dict.fromkeys([*self.paths[:2], *self._linked(path)])
        links = "".join(f'<li><a href="{one}">{one}</a></li>' for one in linked)
        return (
            f"<!DOCTYPE html><html lang=en><head><title>{title}</title></head><body>"
            f"{self.above(path, visited)}<h1>{title}</h1><p>{prose(path, self._words)}</p>"
            f"<ul>{links}</ul>{self.below(path, visited)}</body></html>"
        ).encode()

    def _linked(self, path: str) -> list[str]:
        at = self.paths.index(path) * _LISTED + 1
        found = self.paths[at : at + _LISTED]
        return [path + "?do=show" for path in found] + found if self._is_copied else found

    def title(self, path: str) -> str:
        return prose(f"title {path}", 3).rstrip(".")

    def above(self, path: str, visited: Sequence[str]) -> str:
        """Return what stands above a page's text."""
        return ""

    def below(self, path: str, visited: Sequence[str]) -> str:
        """Return what stands below a page's links."""
        return ""

    def links_to(self, paths: Sequence[str]) -> str:
        return " • ".join(f'<a href="{one}">{self.title(one)}</a>' for one in paths)


class TracingWiki(SessionSite):
    """Shows the last four pages of a session on each page, this one too, as DokuWiki does."""

    def above(self, path: str, visited: Sequence[str]) -> str:
        return f"<div>Trace: {self.links_to(visited[-4:])}</div>"


class MovedWiki(TracingWiki):
    """Links from each page to an old URL too; all of these lead to one page."""

    def _linked(self, path: str) -> list[str]:
        return [*super()._linked(path), f"/old{path}"]

    def answer(self, path: str, visited: Sequence[str], *, is_known: bool) -> Response | None:
        moved = Response(status=302, headers={"Location": "/p1"})
        return moved if path.startswith("/old") else None


class Shop(SessionSite):
    """Shows which things a session looked at, below each thing and under a heading."""

    def below(self, path: str, visited: Sequence[str]) -> str:
        seen = visited[-6:-1]
        return f"<h2>Recently viewed</h2><div>{self.links_to(seen)}</div>" if seen else ""


class CountingShop(SessionSite):
    """Says on each page how many things a session looked at."""

    def below(self, path: str, visited: Sequence[str]) -> str:
        return f"<p>You looked at {len(visited)} things</p>"


class PaidPaper(SessionSite):
    """Shows the beginning of its pages alone to a session that has read enough."""

    free = 100

    def answer(self, path: str, visited: Sequence[str], *, is_known: bool) -> Response | None:
        if len(visited) < self.free or path not in self.paths:
            return None
        text = " ".join(prose(path, self._words).split()[:8])
        return Response(f"<title>{self.title(path)}</title><p>{text}</p><p>Subscribe</p>".encode())


class ForwardingForum(SessionSite):
    """Writes the session into each link for those who send no cookie."""

    def page(self, path: str, visited: Sequence[str]) -> bytes:
        page = super().page(path, visited)
        if len(visited) > 1:
            return page
        number = len(self._sessions)
        return page.replace(b'">/p', f'?key={number}">/p'.encode())


class PartlyGatedSite(SessionSite):
    """Wants a cookie for some of its pages: these are below ``/de/``.

    Args:
        gate: What others get there: a redirect to ``/choice``, a status, one text (``"same"``),
            or the beginning of each page (``"teaser"``).
        pages: Number of pages.
        every: Each page of so many wants a cookie.
    """

    def __init__(self, gate: str, pages: int, every: int) -> None:
        self._gate, self._every = gate, every
        super().__init__(pages, words=80)

    def path_of(self, number: int) -> str:
        return f"/en/p{number}" if (number + 1) % self._every else f"/de/p{number}"

    def answer(self, path: str, visited: Sequence[str], *, is_known: bool) -> Response | None:
        if path == "/choice":
            return Response(b"<title>Choice</title><p>Choose a language to go on</p>")
        if is_known or not path.startswith("/de/"):
            return None
        if self._gate == "choice":
            return Response(status=302, headers={"Location": f"/choice?from={path}"})
        if self._gate in {"same", "teaser"}:
            text = "all of them" if self._gate == "same" else prose(path, 55)
            return Response(f"<title>Choose</title><p>{text} in your language</p>".encode())
        return Response(b"<p>Choose a language</p>", status=int(self._gate))
