"""Another site, that links lead to: some of its pages are gone, some refuse HEAD or programs."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.sites.serving import Request

_ROBOTS = Response(b"User-agent: *\nDisallow: /secret\n", content_type="text/plain")
_HERE = Response(b"<p>Here</p>")
_OF_HEAD: dict[str, Response | None] = {
    "/robots.txt": _ROBOTS,
    "/alive": Response(missing_bytes=2**40),
    "/gone": NOT_FOUND,
    "/no-head": Response(status=405),
    "/no-head-gone": Response(status=501),
    "/drops-head": None,
    "/refuses": Response(status=403),
    "/moved": Response(status=301, headers={"Location": "/gone"}),
    "/secret": NOT_FOUND,
    "/large": Response(status=405),
}
_OF_GET = {
    "/no-head": _HERE,
    "/no-head-gone": Response(status=410),
    "/drops-head": _HERE,
    "/large": Response(b"<p>Here</p>" * 50_000),
}

PATHS = [path for path in _OF_HEAD if path != "/robots.txt"]
DEAD = {"/gone": "HTTP 404", "/moved": "HTTP 404", "/no-head-gone": "HTTP 410"}


class Elsewhere(MadeSite):
    """Serves pages that are there, gone or odd; what it has not is not found.

    Args:
        address: IP address of the interface.
        answers: Further answers, or others, by path.

    Attributes:
        asked: Methods and paths in the order of arrival.
        most_at_once: The largest number of requests that were under way together.
    """

    def __init__(
        self, address: str = "127.0.0.2", answers: Mapping[str, Response] | None = None
    ) -> None:
        super().__init__([address])
        self.asked: list[tuple[str, str]] = []
        self.most_at_once = 0
        self._answers = _OF_HEAD | dict(answers or {})
        self._under_way = 0
        self._lock = Lock()

    def respond(self, request: Request) -> Response | None:
        self._note(1)
        self.asked.append((request.method, request.target))
        time.sleep(0.05)  # others may come meanwhile
        self._note(-1)
        if request.method == "GET" and request.target in _OF_GET:
            return _OF_GET[request.target]
        return self._answers.get(request.target, NOT_FOUND)

    def _note(self, step: int) -> None:
        with self._lock:
            self._under_way += step
            self.most_at_once = max(self.most_at_once, self._under_way)
