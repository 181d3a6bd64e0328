"""A site with pages of its own, and whole areas that answer with something else than a page."""

from __future__ import annotations

from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tests.sites.prose import document, prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.sites.serving import Request

PAGES = 30
"""Pages of each area."""

ARTICLES = 12

_NAMES = prose("names of pages", 400).replace(".", "").lower().split()
NAMES = tuple(dict.fromkeys("-".join(pair) for pair in pairwise(_NAMES)))

_FRAME = (
    '<header><a href="/">Home</a> <a href="/contact">Contact</a>'
    ' <a href="/terms">Terms</a></header>'
)

WALLS = {
    "lost": "soft_404",
    "silent": "soft_404",
    "members": "wall",
    "news": "wall",
    "guarded": "wall",
    "checks": "wall",
}
"""The verdict that each area deserves."""

SHORT_PAGES = {
    "/contact": "Write to us, or call between nine and noon. We answer on the next day.",
    "/terms": "Whoever uses these pages does so at their own risk.",
    "/help/404": "Page not found: what that means, and what you can do when you see it.",
    "/help/login": "Log in with your name and your password. We never ask for it by mail.",
}


class WalledSite(MadeSite):
    """Serves on a loopback port while a ``with`` block lasts.

    Args:
        areas: Keys of ``WALLS``, or ``sessions``: one short page with a login field under many
            session ids and orders.
        answers_unknown: Whether a URL that does not exist is answered as ``lost`` is.
    """

    def __init__(self, areas: Iterable[str], *, answers_unknown: bool = False) -> None:
        super().__init__()
        self._areas = tuple(areas)
        self._answers_unknown = answers_unknown
        self._asked: list[str] = []
        self._lock = Lock()

    @property
    def asked(self) -> list[str]:
        """What was asked for so far, in the order of arrival."""
        with self._lock:
            return list(self._asked)

    def real_paths(self) -> set[str]:
        """The paths of all pages that are ones."""
        return {"/", *SHORT_PAGES, *(f"/article/{number}" for number in range(ARTICLES))}

    def respond(self, request: Request) -> Response | None:
        with self._lock:
            self._asked.append(request.target)
        path = unquote(urlsplit(request.target).path)
        area, _, name = path.strip("/").partition("/")
        if path == "/":
            return Response(document("A site with walls", _FRAME + self._links()))
        if path in SHORT_PAGES:
            return _page(path.strip("/").title(), SHORT_PAGES[path])
        if area == "article":
            return Response(document(f"Article {name}", _FRAME))
        if area in self._areas and name:
            return _walls(area, path, request.target)
        if self._answers_unknown and path != "/robots.txt":
            return _walls("silent", path, request.target)
        return NOT_FOUND

    def _links(self) -> str:
        paths = [*sorted(self.real_paths() - {"/"})]
        for area in self._areas:
            if area == "sessions":
                paths += [f"/sessions/page?sid={n}&amp;sort=s{n % 3}" for n in range(PAGES)]
                paths += [f"/sessions/s{n:04}/page" for n in range(PAGES)]
            else:
                paths += [f"/{area}/{_part(n)}{name}" for n, name in enumerate(NAMES[:PAGES])]
        return "<ul>" + "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths) + "</ul>"


def _part(number: int) -> str:
    return ("", "old/", "x/y/")[number % 3]


def _page(title: str, body: str, head: str = "") -> Response:
    return Response(
        f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head>"
        f"<body>{_FRAME}<main><h1>{title}</h1>{body}</main></body></html>".encode()
    )


_FORM = '<form><input name="user"><input type="password" name="word"><button>Go</button></form>'


def _walls(area: str, path: str, target: str) -> Response:
    """What an area answers at every URL."""
    if area == "checks":
        notice = "<p>Please enable JavaScript and cookies to continue to this site.</p>"
        return Response(
            f"<!DOCTYPE html><html><head><title>One step</title></head><body>{notice}"
            '<script src="/main.js"></script></body></html>'.encode()
        )
    name, number = path.rpartition("/")[2], sum(target.encode()) * 7919
    onward = f'<a href="/contact?from={name}">Ask for an account</a>'
    title, body = {
        "lost": ("Oops", f"<p>Sorry, the page {path} was not found on this server.</p>"),
        "silent": ("Our catalogue", "<p>Choose one of the entries on the left to begin.</p>"),
        "members": ("Members", f"<p>Please log in to read this.</p>{_FORM}{onward}"),
        "news": ("Before you continue", "<p>We use cookies. Accept all cookies to go on.</p>"),
        "guarded": (
            "Just a moment...",
            f'<p>Verify that you are human.</p><div class="g-recaptcha"></div><p>Ray {number}</p>',
        ),
        "sessions": ("Your order", f"<p>Log in to see where your order is.</p>{_FORM}"),
    }[area]
    return _page(title, body)
