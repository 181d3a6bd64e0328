"""A small server that plays what crawlers meet: each trick at a path of its own."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from tests.sites.attacks import ATTACKS
from tests.sites.attacks.hosts import HOSTS
from tests.sites.exchange import Exchange
from tests.sites.prose import document
from tests.sites.serving import OF_EVERY_HOST, QuietServer
from tests.sites.tricks import TRICKS, numbered_trick

if TYPE_CHECKING:
    from tests.sites.exchange import Asked

OPEN_ROBOTS = "User-agent: *\nDisallow: /closed/\n"

Trick = Callable[[Exchange], None]


class HostileSite:
    """Serves every trick on a loopback port while a ``with`` block lasts.

    Args:
        robots_txt: What /robots.txt says, or the trick that it plays; may be set anew at any time.
        linked: The paths that the index links to, all tricks where None; may be set anew.

    Attributes:
        added: Tricks by path that this site plays beside the others.
    """

    def __init__(
        self, robots_txt: str | Trick = OPEN_ROBOTS, linked: tuple[str, ...] | None = None
    ) -> None:
        self.robots_txt = robots_txt
        self.linked = tuple(TRICKS) if linked is None else linked
        self.added: dict[str, Trick] = {}
        self.closing = Event()
        self._asked: list[Asked] = []
        self._lock = Lock()
        handler = type("BoundExchange", (Exchange,), {"stage": self})
        self._server = QuietServer((HOSTS[0], 0), handler)
        # The same site at another address, for what goes from host to host.
        self._other = QuietServer((HOSTS[1], self._server.server_address[1]), handler)
        self._threads = [
            Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            for server in (self._server, self._other)
        ]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The index, with the final slash."""
        return f"{self.origin}/"

    def at(self, path: str) -> str:
        """The URL of a trick."""
        return f"{self.origin}{path}"

    @property
    def asked(self) -> list[Asked]:
        """Every request so far, in the order of arrival."""
        with self._lock:
            return list(self._asked)

    def paths(self) -> list[str]:
        """The target of every request so far, robots.txt and usual sitemaps left out."""
        return [asked.path for asked in self.asked if asked.path not in OF_EVERY_HOST]

    def note(self, asked: Asked) -> None:
        with self._lock:
            self._asked.append(asked)

    def trick_for(self, path: str) -> Trick:
        own: dict[str, Trick] = {"/": self._index, "/robots.txt": self._robots, **self.added}
        name = urlsplit(path).path
        known = own.get(name) or TRICKS.get(name) or ATTACKS.get(name)
        return known or numbered_trick(name) or _missing

    def _index(self, exchange: Exchange) -> None:
        items = "".join(f'<li><a href="{escape(path)}">{path}</a></li>' for path in self.linked)
        exchange.answer(document("Index of tricks", f"<ul>{items}</ul>"))

    def _robots(self, exchange: Exchange) -> None:
        if isinstance(self.robots_txt, str):
            exchange.answer(self.robots_txt.encode(), "text/plain")
        else:
            self.robots_txt(exchange)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        for server in (self._server, self._other):
            server.shutdown()
            server.server_close()
        for thread in self._threads:
            thread.join()


def _missing(exchange: Exchange) -> None:
    exchange.answer(b"<!DOCTYPE html><title>Not found</title><p>No such trick.", status=404)
