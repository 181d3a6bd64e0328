"""The server of the dynamic site, what it was asked for, and what there is to find."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from tests.sites.dynamic.addresses import Address
from tests.sites.dynamic.options import Options
from tests.sites.dynamic.page import Link, Page, rendered
from tests.sites.dynamic.parts import PARTS
from tests.sites.dynamic.spelling import Spelling
from tests.sites.dynamic.texts import text
from tests.sites.serving import NOT_FOUND, OF_EVERY_HOST, MadeSite, Response

if TYPE_CHECKING:
    from tests.sites.serving import Request

HOME = "home"
ERROR = "error"


class Fetch(NamedTuple):
    """A page that was asked for, and the name of what the answer said."""

    target: str
    content: str


class Shown(NamedTuple):
    """A page as a reader sees it: the name of what it says, and its references as written."""

    content: str
    status: int
    references: tuple[str, ...]


class DynamicSite(MadeSite):
    """Serves the parts that the options name while a ``with`` block lasts.

    ``with DynamicSite(CLUTTERED) as site: crawl(site.url); assert not site.lost()``
    """

    def __init__(self, options: Options | None = None, port: int = 0) -> None:
        super().__init__(port=port)
        self.options = options or Options()
        self._parts = [PARTS[name](self.options) for name in self.options.parts]
        self._fetches: list[Fetch] = []
        self._lock = Lock()
        self.origins = (self.origin, f"http://localhost:{self.port}")
        self._spelling = Spelling(self.options, self.origins)
        self.truth = frozenset([HOME, *(name for part in self._parts for name in part.truth())])
        """Names of all contents that there are to find."""

    @property
    def fetches(self) -> list[Fetch]:
        """Every page so far, in the order of arrival; robots.txt and sitemaps left out."""
        with self._lock:
            return list(self._fetches)

    def forget(self) -> None:
        """Begin to count anew."""
        with self._lock:
            self._fetches.clear()

    def found(self) -> frozenset[str]:
        """The contents that were fetched at least once."""
        return self.truth & {fetch.content for fetch in self.fetches}

    def lost(self) -> frozenset[str]:
        """The contents that were never fetched."""
        return self.truth - self.found()

    def content_of(self, url: str) -> str:
        """The name of what a URL or target shows; ``lucky``, ``fresh``: another text each time."""
        parts = urlsplit(url)
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        return self._page(self._spelling.read(target, parts.netloc)).content

    def answer(self, target: str, host: str = "") -> tuple[int, bytes]:
        """Status and body of a request, which is noted."""
        address = self._spelling.read(target, host)
        page = self._page(address)
        with self._lock:
            self._fetches.append(Fetch(target, page.content))

        def href(to: Address | str) -> str:
            return to if isinstance(to, str) else self._spelling.write(to, address)

        return page.status, rendered(page, href)

    def shown(self, target: str, host: str = "") -> Shown:
        """What a request would bring, without a server; it is not noted."""
        address = self._spelling.read(target, host)
        page = self._page(address)
        references = tuple(
            link.to if isinstance(link.to, str) else self._spelling.write(link.to, address)
            for link in page.links
        )
        return Shown(page.content, page.status, references)

    def respond(self, request: Request) -> Response:
        if request.target == "/robots.txt":
            return Response(b"User-agent: *\nDisallow:\n", content_type="text/plain")
        if request.target in OF_EVERY_HOST:
            return NOT_FOUND
        status, body = self.answer(request.target, request.host)
        return Response(body, status)

    def _page(self, address: Address) -> Page:
        if address.path == "/":
            return self._home()
        asked = [address]
        if self.options.folders and not address.path.endswith("/"):
            asked.append(Address(f"{address.path}/", address.arguments))
        answers = (part.answer(one) for one in asked for part in self._parts)
        return next(filter(None, answers), self._error())

    def _home(self) -> Page:
        entries = [entry for part in self._parts for entry in part.entries()]
        links = tuple(Link(entry, entry.slug) for entry in entries)
        return Page(HOME, "Home", (text(HOME, self.options.seed),), links)

    def _error(self) -> Page:
        status = 200 if self.options.soft_errors else 404
        return Page(ERROR, "Not found", (text(ERROR, self.options.seed),), status=status)
