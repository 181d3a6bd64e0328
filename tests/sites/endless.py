"""A site where names of any part of a URL go on without an end, and others that lead to pages.

It answers for every host and port, as a proxy does.
"""

from __future__ import annotations

import re
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.sites.prose import document
from tests.sites.serving import NOT_FOUND, OF_EVERY_HOST, MadeSite, Response

if TYPE_CHECKING:
    from tests.sites.serving import Request

DOMAIN = "endless-names.com"
HOME = f"http://www.{DOMAIN}/"
LAST = 1_000
"""The endless part ends there, so that a crawl that does not notice it comes to an end too."""
ITEMS = 60

SHAPES = {
    "name": f"http://www.{DOMAIN}/{{part}}?k{{number}}=1",
    "bare": f"http://www.{DOMAIN}/{{part}}?{{number}}",
    "brackets": f"http://www.{DOMAIN}/{{part}}?a[{{number}}]=1",
    "host": f"http://h{{number}}.{{part}}.{DOMAIN}/page",
    "port": f"http://{{part}}.{DOMAIN}:{{number}}/page",
}
_FIRST = 10_000
"""Numbers begin there: ports below it may be refused."""


class EndlessSite(MadeSite):
    """Serves on a loopback port while a ``with`` block lasts; to be given as ``http_proxy``.

    Args:
        shape: A key of ``SHAPES``.
    """

    def __init__(self, shape: str) -> None:
        super().__init__()
        self._shape = SHAPES[shape]
        escaped = re.escape(self._shape).replace(r"\{number\}", r"(?P<number>[0-9]+)")
        self._pattern = re.compile(escaped.replace(r"\{part\}", r"(?P<part>loop|item)"))
        self._asked: list[str] = []
        self._lock = Lock()

    @property
    def proxy(self) -> str:
        return self.origin

    def asked(self, part: str) -> list[str]:
        """The pages of a part so far, in the order of arrival."""
        with self._lock:
            return [
                url
                for url in self._asked
                if _is_of(url, part) and urlsplit(url).path not in OF_EVERY_HOST
            ]

    def asked_sitemaps(self) -> list[str]:
        """The sitemaps that were asked for so far, of all hosts."""
        with self._lock:
            return [url for url in self._asked if urlsplit(url).path in OF_EVERY_HOST]

    def page(self, part: str, number: int) -> str:
        return self._shape.format(part=part, number=_FIRST + number)

    def answer(self, url: str) -> bytes | None:
        if urlsplit(url).path == "/robots.txt":
            return None
        with self._lock:
            self._asked.append(url)
        title, number = self._read(url)
        if title == "Home":
            first = [self.page("loop", 0), *(self.page("item", n) for n in range(ITEMS))]
            return document(title, _links(first))
        if title == "Loop":
            further = range(number + 1, min(number + 4, LAST))
            return document(title, _links([self.page("loop", one) for one in further]))
        return document(title) if title else None

    def title_of(self, url: str) -> str | None:
        """The title of what a URL shows, or None: Home, Loop, or Item with a number."""
        return self._read(url)[0]

    @property
    def total(self) -> int:
        """How often pages were asked for so far."""
        with self._lock:
            return len(self._asked)

    def _read(self, url: str) -> tuple[str | None, int]:
        if url == HOME:
            return "Home", 0
        found = self._pattern.fullmatch(url.replace("%5B", "[").replace("%5D", "]"))
        if found is None:
            return None, 0
        number = int(found["number"]) - _FIRST
        return f"Item {number}" if found["part"] == "item" else "Loop", number

    def respond(self, request: Request) -> Response:
        body = self.answer(request.target)
        return NOT_FOUND if body is None else Response(body)


def _is_of(url: str, part: str) -> bool:
    return re.search(rf"[/.]{part}[.?/]", url) is not None


def _links(urls: list[str]) -> str:
    return "<nav>" + " ".join(f'<a href="{url}">further</a>' for url in urls) + "</nav>"
