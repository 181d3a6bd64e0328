"""Tell what the TLS handshake of a connection settled."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.serialization import Encoding


class TlsFacts(NamedTuple):
    """What client and server settled on, and who the server says that it is.

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
