"""A site whose links lead to places within pages, some of which are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from tests.sites.serving import Request

LOST = {"/manual#removed", "/manual#Install", "/old#removed", "/#nowhere", "/copy#gone"}
"""Links of the start page that lead to no place."""

_THERE = (
    "/manual#install", "/manual#by-name", "/manual#ma%C3%9Fe", "/manual#maße", "/manual#two words",
    "/manual#", "/manual#top", "/manual#TOP", "/manual#:~:text=garden", "/manual#install:~:text=a",
    "/old#install", "#here", "/#here", "/app#/route", "/app#!route", "/app#filled", "/cut#section",
    "/gone#install", "/text#line", "https://elsewhere.invalid/#place",
)  # fmt: skip

_BODIES = {
    "/manual": '<h2 id="install">A</h2><a name="by-name">B</a><h2 id="maße">C</h2>'
    '<h2 id="two words">D</h2><form name="removed"></form>',
    "/app": '<div id="root"></div><script src="/app.js"></script>',
    "/copy": "",
    "/cut": "",
}


class SiteOfPlaces(MadeSite):
    """Serves pages on a loopback port while a ``with`` block lasts.

    Attributes:
        manual: What stands on ``/manual`` beside its text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.manual = _BODIES["/manual"]

    def respond(self, request: Request) -> Response:
        path = request.target
        if path == "/old":
            return Response(status=301, headers={"Location": "/manual"})
        if path == "/text":
            return Response(prose("/text").encode(), content_type="text/plain; charset=utf-8")
        if path != "/" and path not in _BODIES:
            return NOT_FOUND
        body = self.manual if path == "/manual" else _BODIES.get(path, "")
        if path == "/":
            links = sorted({*LOST, *_THERE})
            body = '<h2 id="here">Here</h2>' + "".join(f'<a href="{to}">x</a> ' for to in links)
        said = f"<p>{prose('/manual' if path == '/copy' else path, 120)}</p>{body}"
        html = f"<!DOCTYPE html><meta charset=utf-8><title>{path}</title><main>{said}</main>"
        etag = f'"{crc32(html.encode())}"'
        if request.etag == etag:
            return Response(status=304, headers={"ETag": etag})
        missing = 500 if path == "/cut" else 0
        return Response(html.encode(), headers={"ETag": etag}, missing_bytes=missing)
