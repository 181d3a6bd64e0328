"""Asking the hostile site with nothing but sockets and urllib."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, build_opener

if TYPE_CHECKING:
    from tests.sites.hostile import HostileSite


class StayHere(HTTPRedirectHandler):
    """Shows a redirect instead of following it."""

    def redirect_request(self, *_: object) -> None:
        return None


def fetch(site: HostileSite, path: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and raw body of an answer; redirects are not followed."""
    try:
        with build_opener(StayHere).open(site.at(path), timeout=20) as response:
            return response.status, dict(response.headers), response.read()
    except HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def connect(site: HostileSite, path: str) -> socket.socket:
    """A connection on which a path has been asked for."""
    host, port = site.origin.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=10)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return connection


def drain(connection: socket.socket) -> bytes:
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received
