"""Sites whose pages tell the time: that of the answer in their footers, or one that is content."""

from __future__ import annotations

import random
import time
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.sites.serving import Request

_HOUR_SECS = 3_600


def _german(now: float) -> str:
    then = time.gmtime(now)
    month = _MONTHS[then.tm_mon - 1]
    return time.strftime(f"Erstellt am %d. {month} %Y um %H:%M:%S Uhr", then)


_MONTHS = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
)

FOOTERS: Mapping[str, Callable[[float], str]] = {
    "ISO 8601": lambda now: time.strftime("made at %Y-%m-%d %H:%M:%S +0000", time.gmtime(now)),
    "RFC 2822": lambda now: f"Generated {formatdate(now)}",
    "seconds since 1970": lambda now: f"Served at {int(now)}.",
    "duration": lambda _: f"Page generated in {random.uniform(0.01, 0.9):.5f} seconds.",
    "German, an hour ahead": lambda now: _german(now + _HOUR_SECS),
    "American, behind": lambda now: time.strftime(
        "It is %m/%d/%Y, %I:%M:%S %p", time.gmtime(now - 5 * _HOUR_SECS)
    ),
}
"""What the footer of a page says, by the time of the answer."""

THINGS = 8
EVENTS = 40


class ClockedSite(MadeSite):
    """Things, each at three URLs, whose footers tell the time of the answer.

    Args:
        footer: One of ``FOOTERS``.
        address: Of the interface.
    """

    def __init__(self, footer: str, address: str = "127.0.0.1") -> None:
        super().__init__((address,))
        self._name, self._footer = footer, FOOTERS[footer]

    def respond(self, request: Request) -> Response:
        path, number = (
            urlsplit(request.target).path,
            urlsplit(request.target).path.rpartition("/")[2],
        )
        if path == "/":
            main = "".join(f'<a href="/thing/{n}">{n}</a> ' for n in range(THINGS))
        elif path.startswith("/thing/") and number.isdigit() and int(number) < THINGS:
            older = "".join(f'<a href="{path}?at={at}">older</a> ' for at in ("ab", "cd"))
            said = f"<p>{prose(f'{self._name} {path}', 20)}</p>"
            main = f"<h1>Thing {number} of {self._name}</h1>{said}{older}"
        else:
            return NOT_FOUND
        footer = f'<div class="footer">{self._footer(time.time())}</div>'
        return Response(f"<title>Things</title><div>{main}</div>{footer}".encode())


class EventSite(MadeSite):
    """Events of this minute, which differ by their times alone: those are content.

    Some are near the time at which they are asked for, whenever that is. What was sent before and
    has not changed is not sent again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.begin("The build passed on")

    def begin(self, what: str) -> None:
        """Let other events take the place of those so far."""
        self._what, self._began_at = what, time.time()

    def respond(self, request: Request) -> Response:
        number = request.target.removeprefix("/event?id=")
        if request.target == "/":
            links = (f'<a href="/event?id={n}">an event</a> ' for n in range(EVENTS))
            return Response(f"<title>Events</title>{''.join(links)}".encode())
        if not number.isdigit() or int(number) >= EVENTS:
            return NOT_FOUND
        then = time.gmtime(self._began_at - 5 + int(number))
        said = time.strftime(f"{self._what} %d %b %Y at %H:%M:%S.", then)
        headers = {"ETag": f'"{self._began_at}-{number}"'}
        if request.etag == headers["ETag"]:
            return Response(status=304, headers=headers)
        return Response(f"<title>Events</title><p>{said}</p>".encode(), headers=headers)
