"""One site on many hosts, which knows who asked when: addresses 127.0.0.1, 127.0.0.2 and so on."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING

from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.serving import Request

BRANCHES = 4
TWIN_EVERY = 20
NEAR_EVERY = 10
WORDS = 120
_ALONE_SECS = 2.0


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: who asked which host for what, when it came and when it was answered."""

    host: int
    path: str
    agent: str
    began: float
    ended: float


class ManyHosts(MadeSite):
    """Serves pages on loopback addresses while a ``with`` block lasts.

    Page n is at host n modulo their number; its links lead to its children in a
    tree and to a page far away, so most of them to other hosts. Every twentieth page
    says what the one before it says, every tenth nearly that.

    Args:
        pages: How many there are.
        hosts: How many addresses serve them.
        answer_secs: How long an answer takes.
        robots: What robots.txt says.
        agents: Until so many ask for pages an answer takes two seconds, so that all of them are
            there before the site is crawled, however long they take to start.
    """

    def __init__(
        self,
        pages: int,
        hosts: int,
        *,
        answer_secs: float = 0.0,
        robots: str = "",
        agents: int = 1,
    ) -> None:
        super().__init__([f"127.0.0.{number}" for number in range(1, hosts + 1)])
        self.pages, self.hosts = pages, hosts
        self._answer_secs = answer_secs
        self.robots = robots
        self._agents_wanted = agents
        self._agents: set[str] = set()
        self._lock = Lock()
        self._closing = Event()
        self._open = Event()
        self._open.set()
        self._asked: list[Asked] = []
        self.redirects: dict[str, str] = {}

    def respond(self, request: Request) -> Response:
        began = time.monotonic()
        response = self._response(request.target)
        is_page = request.target.endswith(".html")
        if is_page and (secs := self.secs_for(request.agent)):
            self._closing.wait(secs)
        self.wait()
        if is_page:
            host = int(request.address.rpartition(".")[2]) - 1
            self.note(Asked(host, request.target, request.agent, began, time.monotonic()))
        return response

    def _response(self, target: str) -> Response:
        redirect = self.redirects.get(target)
        if redirect is not None:
            return Response(status=302, headers={"Location": redirect})
        if target == "/robots.txt" and self.robots:
            return Response(self.robots.encode())
        name, _, ending = target[1:].partition(".")
        if ending != "html" or not name.isdecimal() or int(name) >= self.pages:
            return NOT_FOUND
        return Response(self.body_of(int(name)))

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self.go_on()
        super().__exit__(*exc)

    @property
    def url(self) -> str:
        """Where to start."""
        return self.url_of(0)

    @property
    def seeds(self) -> str:
        """As ``-a url=`` takes them: the start, and a page of each host, for the scope."""
        return ",".join(self.url_of(number) for number in range(self.hosts))

    def url_of(self, number: int) -> str:
        """The URL of a page."""
        return f"http://127.0.0.{number % self.hosts + 1}:{self.port}/{number}.html"

    def text_of(self, number: int) -> str:
        """What a page says: the same as another one, nearly the same, or its own."""
        if number and number % TWIN_EVERY == 0:
            return self.text_of(number - 1)
        if number and number % NEAR_EVERY == 0:
            return f"{self.text_of(number - 1)} Revised on day {number}."
        return prose(f"page {number}", WORDS)

    def cluster_of(self, number: int) -> str:
        """What all pages have in common of which one is to be kept."""
        if number and (number % TWIN_EVERY == 0 or number % NEAR_EVERY == 0):
            return self.cluster_of(number - 1)
        return f"page {number}"

    def body_of(self, number: int) -> bytes:
        """A page."""
        first = number * BRANCHES + 1
        linked = [*range(first, min(first + BRANCHES, self.pages)), (number * 7 + 3) % self.pages]
        links = "".join(f'<a href="{self.url_of(to)}">{to}</a> ' for to in linked)
        return (
            f"<!DOCTYPE html><!-- {number} --><html lang=en><title>Many</title><body><main>"
            f"<article><h1>Many</h1><p>{self.text_of(number)}</p></article></main>"
            f"<nav>{links}</nav></body></html>"
        ).encode()

    @property
    def asked(self) -> list[Asked]:
        """Every request for a page so far, as they were answered."""
        with self._lock:
            return list(self._asked)

    @property
    def total(self) -> int:
        """How many those are."""
        with self._lock:
            return len(self._asked)

    @property
    def counts(self) -> Counter[int]:
        """How often each page was asked for."""
        return Counter(int(one.path[1:].partition(".")[0]) for one in self.asked)

    def secs_for(self, agent: str) -> float:
        """How long an answer takes now."""
        with self._lock:
            self._agents.add(agent)
            is_alone = len(self._agents) < self._agents_wanted
        return max(self._answer_secs, _ALONE_SECS) if is_alone else self._answer_secs

    def note(self, asked: Asked) -> None:
        """Remember a request."""
        with self._lock:
            self._asked.append(asked)

    def hold(self) -> None:
        """Answer nothing, until ``go_on``."""
        self._open.clear()

    def go_on(self) -> None:
        """Answer again."""
        self._open.set()

    def wait(self) -> None:
        """Wait where answers are held back."""
        self._open.wait()

    def overlaps(self) -> Iterator[tuple[Asked, Asked]]:
        """Pairs of requests of different agents to one host, of which one began during another."""
        for host in range(self.hosts):
            last: Asked | None = None
            for one in sorted((a for a in self.asked if a.host == host), key=lambda a: a.began):
                if last is not None and one.agent != last.agent and one.began < last.ended:
                    yield last, one
                if last is None or one.ended > last.ended:
                    last = one

    def handovers(self) -> Iterator[float]:
        """Seconds from the last request of an agent to a host to the first one of another."""
        for host in range(self.hosts):
            own = sorted((a for a in self.asked if a.host == host), key=lambda a: a.began)
            for last, one in pairwise(own):
                if one.agent != last.agent:
                    yield one.began - last.began
