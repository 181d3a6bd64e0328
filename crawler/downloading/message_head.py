"""Read the head of a request or an answer, its ranges, and what the TLS handshake settled."""

from __future__ import annotations

import base64
import re
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.serialization import Encoding

_HEAD = re.compile(rb"\s*+(\S.*?)\n\r?\n", re.DOTALL)
_RANGE = re.compile(rb"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")
_INFORMATIONAL = re.compile(rb"\S+ +1\d\d")


class MessageHead(NamedTuple):
    """The head of a message as it was sent.

    Attributes:
        first_line: Request line or status line, without its end.
        headers: Names in the sender's spelling and order, both without spaces around them.
    """

    first_line: bytes
    headers: tuple[tuple[bytes, bytes], ...]


def read_head(data: bytes) -> MessageHead | None:
    """Return the head at the beginning of some bytes, or None if they hold no whole one.

    Those of informational answers (``103 Early Hints``) are skipped, and empty lines before a
    status. Lines may end without CR, as those of some servers do.
    """
    head = _HEAD.match(data)
    while head is not None:
        first_line, *lines = head[1].split(b"\n")
        if _INFORMATIONAL.match(first_line) is None:
            return MessageHead(first_line.removesuffix(b"\r"), tuple(_headers(lines)))
        head = _HEAD.match(data, head.end())
    return None


def _headers(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    headers: list[tuple[bytes, bytes]] = []
    for line in lines:
        if line[:1] in {b" ", b"\t"} and headers:  # it continues the line before
            name, value = headers.pop()
            headers.append((name, value + b" " + line.strip()))
        else:
            name, colon, value = line.partition(b":")
            if colon:
                headers.append((name.rstrip(), value.strip()))
    return headers


class ContentRange(NamedTuple):
    """The bytes of a file that an answer holds, from ``first`` to ``last``, of ``size``."""

    first: int
    last: int
    size: int

    @property
    def is_to_end(self) -> bool:
        return self.last + 1 == self.size


def range_in(header: bytes | None) -> ContentRange | None:
    """Return the range of a header ``Content-Range``, None where it has none or an unknown size."""
    found = _RANGE.fullmatch((header or b"").strip())
    return None if found is None else ContentRange(*map(int, found.groups()))


class TlsFacts(NamedTuple):
    """Terms that client and server settled on, and the name that the server gives itself.

    Attributes:
        version: Version of the protocol, such as ``TLSv1.3``.
        cipher_suite: Name of the cipher suite, such as ``TLS_AES_256_GCM_SHA384``.
        certificates: Chain that the server sent, its own first, each in DER.
    """

    version: str
    cipher_suite: str
    certificates: tuple[bytes, ...]

    def fields(self) -> list[tuple[str, str]]:
        """Return them as fields of a metadata record, certificates in base 64."""
        return [
            ("tls-version", self.version),
            ("tls-cipher-suite", self.cipher_suite),
            *(("tls-certificate", base64.b64encode(der).decode()) for der in self.certificates),
        ]


def tls_facts(transport: Any) -> TlsFacts | None:
    """Return the facts of a transport of Twisted; None if it has no TLS."""
    handle: Any = transport.getHandle() if hasattr(transport, "getHandle") else None
    if not hasattr(handle, "get_cipher_name"):  # a plain socket
        return None
    chain = handle.get_peer_cert_chain(as_cryptography=True) or []
    return TlsFacts(
        handle.get_protocol_version_name(),
        handle.get_cipher_name() or "",
        tuple(certificate.public_bytes(Encoding.DER) for certificate in chain),
    )
