"""What the benchmark asks of a made site, and one of pages that are given by their targets."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Protocol, Self
from urllib.parse import urlsplit

from tests.sites.prose import prose
from tests.sites.serving import HTML, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Set

    from tests.sites.serving import Request

WORDS = 140
"""Words of an article."""


class Measured(Protocol):
    """A site that knows what there is to find."""

    @property
    def seeds(self) -> str:
        """Where to start, one URL or more."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that a crawl of it needs."""

    @property
    def truth(self) -> Set[str]:
        """Names of the pages that a crawl is to keep, each once."""

    @property
    def total(self) -> int:
        """How often pages were asked for so far."""

    def content_of(self, url: str) -> str | None:
        """Name what a URL shows, whatever its spelling."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Page:
    """What one target answers.

    Attributes:
        content: Name of what a person would call one page; None where that does not count.
        body: As it is sent.
        delay_secs: Wait before the answer.
        content_type: As it is declared.
    """

    content: str | None
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_secs: float = 0.0
    content_type: str = HTML


def page(content: str, links: Iterable[str] = (), text: str = "", extra: str = "") -> Page:
    """An article of its own text, with links below it and other markup behind it."""
    said = text or prose(content, WORDS)
    listed = "".join(f'<li><a href="{link}">{number}</a>' for number, link in enumerate(links))
    body = (
        f"<!DOCTYPE html><html lang=en><title>{content}</title><body><main><article>"
        f"<h1>{content}</h1><p>{said}</p></article></main>{extra}<ul>{listed}</ul></body></html>"
    )
    return Page(content, body.encode())


class Site(MadeSite):
    """Serves pages on 127.0.0.1, and on more addresses if wanted, while a ``with`` block lasts.

    Attributes:
        pages: Pages by target; a target is path and query, with the host before it where it is
            served on that address alone.
        limit: At most so many answers in so many seconds; the rest is 429 with Retry-After.
        outage: After so many answers, so many seconds in which connections are closed unanswered.
        gate: Answers in place of a page, or returns None to let a request pass.
    """

    def __init__(self, addresses: int = 1) -> None:
        self._addresses = [f"127.0.0.{number}" for number in range(1, addresses + 1)]
        super().__init__(self._addresses)
        self.pages: dict[str, Page] = {}
        self.limit: tuple[int, float] | None = None
        self.outage: tuple[int, float] | None = None
        self.gate: Callable[[Request], Page | None] | None = None
        self._down_until = math.inf
        self._total = 0
        self._times: list[float] = []
        self._lock = Lock()

    @property
    def seeds(self) -> str:
        """Where to start, one URL for each address."""
        return ",".join(f"http://{address}:{self.port}/" for address in self._addresses)

    @property
    def environment(self) -> Mapping[str, str]:
        """See ``Measured``."""
        return {}

    @property
    def total(self) -> int:
        """See ``Measured``."""
        with self._lock:
            return self._total

    @property
    def truth(self) -> Set[str]:
        """See ``Measured``."""
        return {one.content for one in self.pages.values() if one.content and one.status == 200}

    def content_of(self, url: str) -> str | None:
        """See ``Measured``."""
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        found = self.find((parts.hostname or "").rstrip("."), target)
        return None if found is None else found.content

    def set_robots(self, robots: str, host: str = "") -> None:
        """Serve a robots.txt."""
        self.pages[f"{host}/robots.txt"] = Page(None, robots.encode())

    def find(self, host: str, target: str) -> Page | None:
        """Return the page at a target of a host, or None."""
        return self.pages.get(host + target) or self.pages.get(target)

    def respond(self, request: Request) -> Response | None:
        """See ``MadeSite``."""
        host = request.host.partition(":")[0]
        gate = self.gate(request) if self.gate is not None else None
        found = gate or self.find(host, request.target) or Page(None, b"<p>not here</p>", 404)
        if request.target == "/robots.txt":
            return Response(found.body, found.status, "text/plain")
        with self._lock:
            self._total += 1
            now = time.monotonic()
            if self.outage is not None and self._total > self.outage[0]:
                self._down_until = min(self._down_until, now + self.outage[1])
                if now < self._down_until:
                    return None
            if self.limit is not None:
                most, secs = self.limit
                self._times = [moment for moment in self._times if now - moment < secs]
                if len(self._times) >= most:
                    return Response(b"slower", 429, HTML, {"Retry-After": str(int(secs))})
                self._times.append(now)
        if found.delay_secs:
            time.sleep(found.delay_secs)
        return Response(found.body, found.status, found.content_type, found.headers)
