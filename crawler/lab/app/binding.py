"""Bind a socket, make the URL to print and the token it may need, and know its names again."""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import socket
from dataclasses import dataclass

from crawler.suggestions import UserError

USUAL_PORT = 8765
"""The port tried first where none is given: browsers remember what they store by port."""

_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HIGHEST_PORT = 65_535
_TOKEN_BYTES = 24


class BindingError(UserError):
    """The address cannot be had; the message says why in one line."""


@dataclass(frozen=True)
class Bound:
    """A socket that listens.

    Attributes:
        listening: The socket.
        host: The host, as it was asked for.
        port: The port of the socket.
        token: The token that every request must show; None: only this machine can ask.
    """

    listening: socket.socket
    host: str
    port: int
    token: str | None

    @property
    def address(self) -> str:
        """The URL to open; for every IP address of the machine, that of the machine itself."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "") else self.host  # noqa: S104
        shown = "::1" if shown == "::" else shown
        host = f"[{shown}]" if ":" in shown else shown
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")


def bind(host: str, port: str | None) -> Bound:
    """Listen on an address.

    Args:
        host: A name or number of this machine.
        port: Digits; None: the usual one, or any that is free.

    Raises:
        BindingError: It is no address, not of this machine, or in use.
    """
    number = _port(port)
    try:
        listening = _listen(host, USUAL_PORT if number is None else number)
    except OSError as error:
        if number is not None:
            raise BindingError(_words(host, number, error)) from None
        try:
            listening = _listen(host, 0)
        except OSError as second:
            raise BindingError(_words(host, 0, second)) from None
    token = None if _is_loopback(listening) else secrets.token_urlsafe(_TOKEN_BYTES)
    return Bound(listening, host, listening.getsockname()[1], token)


def _port(given: str | None) -> int | None:
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and int(given) <= _HIGHEST_PORT):
        raise BindingError(f"--port takes a number from 0 to {_HIGHEST_PORT}, got {given!r}")
    return int(given)


def _listen(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    takes_both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    return socket.create_server(address, family=family, backlog=128, dualstack_ipv6=takes_both)


def _is_loopback(listening: socket.socket) -> bool:
    return ipaddress.ip_address(listening.getsockname()[0]).is_loopback


def _words(host: str, port: int, error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return f"--host {host}: no address of this machine"
    where = f"{host} port {port}" if port else host
    return f"{where}: {os.strerror(error.errno or 0)}"


@dataclass(frozen=True)
class Door:
    """The proofs that a request must show.

    Attributes:
        port: The port of the server.
        hosts: The names that are ours, as in a Host header without the port.
        is_any_address: Whether every number is ours: bound to all of a machine's addresses.
        token: The token that a cookie must hold; None: no token is needed.
    """

    port: int
    hosts: frozenset[str]
    is_any_address: bool = False
    token: str | None = None

    @classmethod
    def of(cls, bound: Bound) -> Door:
        address = bound.listening.getsockname()[0]
        number = ipaddress.ip_address(address)
        named = [f"[{name}]" if ":" in name else name for name in (bound.host, address)]
        if number.is_unspecified:
            named.append(socket.gethostname())
        hosts = frozenset(name.lower() for name in (*_LOCAL_NAMES, *named) if name)
        return cls(bound.port, hosts, number.is_unspecified, bound.token)

    @property
    def cookie(self) -> str:
        """The name of the token's cookie: cookies know no ports, and two labs may run."""
        return f"lab-{self.port}"

    def is_ours(self, host: str) -> bool:
        """Return whether a Host header names us, unlike a name that a stranger points here."""
        host = host.lower()
        name, _, port = host.rpartition(":")
        if not name or port.endswith("]"):
            name, port = host, "80"
        if port != str(self.port):
            return False
        return name in self.hosts or (self.is_any_address and _is_number(name))

    def knows(self, given: str | None) -> bool:
        """Return whether this is the token, in a time that says nothing about it."""
        if self.token is None:
            return True
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
