"""A site that refuses what comes too fast or too early, and knows what it was asked when."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from tests.sites.serving import HTML, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.sites.serving import Request


class Refusal(NamedTuple):
    """An answer that is no page: a status with headers, or none at all where the status is 0."""

    status: int
    headers: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Visit:
    """A request as it came: its path, when (monotonic), its place among those for this path."""

    path: str
    at: float
    number: int


Answer = Callable[[Visit, "RefusingSite"], Refusal | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and what was answered; 200 for a page."""

    path: str
    at: float
    status: int


class RefusingSite(MadeSite):
    """Serves pages on a loopback address while a ``with`` block lasts.

    Args:
        pages: Body by path.
        answer: Says of each request whether it is refused.
        address: Of the interface.
    """

    def __init__(
        self,
        pages: Mapping[str, bytes],
        answer: Answer = lambda visit, site: None,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        super().__init__((address,), port)
        self.pages = dict(pages)
        self.answer = answer
        self._asked: list[Asked] = []
        self._lock = Lock()

    @property
    def asked(self) -> list[Asked]:
        """Every request so far, in order, without those for what is not there."""
        with self._lock:
            return list(self._asked)

    def asked_for(self, path: str) -> list[Asked]:
        return [one for one in self.asked if one.path == path]

    @property
    def refused(self) -> list[Asked]:
        return [one for one in self.asked if one.status != 200]

    def gaps(self) -> list[tuple[Asked, float]]:
        """Each refusal with the seconds from it to the next request that came."""
        asked = self.asked
        return [(one, other.at - one.at) for one, other in pairwise(asked) if one.status != 200]

    def take(self, path: str) -> Refusal | None:
        """Note a request; say whether it is refused."""
        at = time.monotonic()
        with self._lock:
            number = sum(one.path == path for one in self._asked) + 1
            refusal = self.answer(Visit(path, at, number), self)
            status = 200 if refusal is None else refusal.status
            if path in self.pages or refusal is not None:
                self._asked.append(Asked(path, at, status))
        return refusal

    def first_served_at(self) -> float | None:
        """When the first page was asked for that was served; to be called by ``answer``."""
        return next((one.at for one in self._asked if one.status == 200), None)

    def served_since(self, moment: float) -> int:
        """How many pages were served since a moment; to be called by ``answer``."""
        return sum(one.status == 200 and one.at >= moment for one in self._asked)

    def respond(self, request: Request) -> Response | None:
        closing = {"Connection": "close"}  # a site that ends is asked no more
        kind = "text/plain" if request.target == "/robots.txt" else HTML
        refusal = self.take(request.target)
        if refusal is not None:
            headers = {**refusal.headers, **closing}
            said = Response(b"not now", refusal.status, kind, headers)
            return said if refusal.status else None
        body = self.pages.get(request.target)
        return Response(body or b"", 404 if body is None else 200, kind, closing)


def at_most(pages: int, within_secs: float, refusal: Refusal) -> Answer:
    """Refuse what comes when so many pages were served within so many seconds."""

    def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
        if visit.path not in site.pages:
            return None
        return refusal if site.served_since(visit.at - within_secs) >= pages else None

    return answer


def until_asked(paths: Mapping[str, int], refusal: Refusal) -> Answer:
    """Refuse each of some paths so many times."""

    def answer(visit: Visit, site: RefusingSite) -> Refusal | None:
        return refusal if visit.number <= paths.get(visit.path, 0) else None

    return answer
