"""One site on many hosts, which knows who asked when: addresses 127.0.0.1, 127.0.0.2 and so on."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Self

from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class ManyHosts:
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
        self.pages, self.hosts = pages, hosts
        self._answer_secs = answer_secs
        self.robots = robots
        self._agents_wanted = agents
        self._agents: set[str] = set()
        self._lock = Lock()
        self._open = Event()
        self._open.set()
        self._asked: list[Asked] = []
        self.redirects: dict[str, str] = {}
        first = self._serve(1, 0)
        self.port: int = first.server_address[1]
        self._servers = [first, *(self._serve(number, self.port) for number in range(2, hosts + 1))]
        self._threads = [
            Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            for server in self._servers
        ]

    def _serve(self, number: int, port: int) -> ThreadingHTTPServer:
        handler = type("BoundHandler", (_Handler,), {"site": self, "host": number - 1})
        return _Server((f"127.0.0.{number}", port), handler)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.go_on()
        for server, thread in zip(self._servers, self._threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()

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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients are killed in the middle."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    wbufsize = -1
    disable_nagle_algorithm = True
    site: ManyHosts
    host: int

    def do_GET(self) -> None:
        began = time.monotonic()
        status, location, body = self._answer()
        is_page = self.path.endswith(".html")
        agent = self.headers.get("User-Agent", "")
        if is_page and (secs := self.site.secs_for(agent)):
            time.sleep(secs)
        self.site.wait()
        if is_page:
            self.site.note(Asked(self.host, self.path, agent, began, time.monotonic()))
        try:
            self.send_response(status)
            if location is not None:
                self.send_header("Location", location)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (TimeoutError, ConnectionError):
            self.close_connection = True

    def _answer(self) -> tuple[int, str | None, bytes]:
        target = self.site.redirects.get(self.path)
        if target is not None:
            return 302, target, b""
        if self.path == "/robots.txt" and self.site.robots:
            return 200, None, self.site.robots.encode()
        name, _, ending = self.path[1:].partition(".")
        if ending != "html" or not name.isdecimal() or int(name) >= self.site.pages:
            return 404, None, b""
        return 200, None, self.site.body_of(int(name))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
