"""``WARC_NETWORK``: the address of a host and its TLS are in the archive, each once."""

from __future__ import annotations

import base64
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.crawler.warc.exchanges import read_all
from tests.crawls.command import crawl
from tests.sites.prose import prose
from tests.sites.serving import MadeSite, Request, Response

if TYPE_CHECKING:
    from http.server import HTTPServer
    from pathlib import Path

pytestmark = pytest.mark.slow

RECORDED = ("-s", "WARC_ENABLED=True", "-s", "WARC_NETWORK=True")


class SecureSite(MadeSite):
    """Three pages by https, with a certificate for localhost that no authority signed."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
        begin = datetime.now(UTC) - timedelta(days=1)
        self.certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(begin)
            .not_valid_after(begin + timedelta(days=9))
            .sign(key, hashes.SHA256())
            .public_bytes(Encoding.PEM)
        )
        both = folder / "site.pem"
        both.write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + self.certificate
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(both)
        for server in self._servers:
            self.secure(server)

    def secure(self, server: HTTPServer) -> None:
        """Have a server that does not listen yet speak TLS."""
        server.socket = self.context.wrap_socket(server.socket, server_side=True)

    def respond(self, request: Request) -> Response:
        if request.target == "/robots.txt":
            return Response(status=404)
        links = '<a href="/a">a</a> <a href="/b">b</a>'
        return Response(f"<main>{prose(request.target, 200)}</main>{links}".encode())


def test_address_and_tls_are_recorded_once(tmp_path: Path) -> None:
    with SecureSite(tmp_path) as site:
        url = f"https://localhost:{site.port}/"
        crawl(url, tmp_path / "job", *RECORDED)
        crawl(url, tmp_path / "job", *RECORDED, "-a", "revisit=yes")
    records = read_all(tmp_path / "job" / "warc")
    answers = [each for each in records if each.kind in {"response", "revisit"}]
    assert len(answers) > 6, "two visits"

    [address] = [each for each in records if each.url == "dns:localhost"]
    assert address.kind == "resource"
    assert address.field("Content-Type") == "text/dns"
    assert (address.payload or b"").endswith(b"\nlocalhost.\tIN\tA\t127.0.0.1\n")

    [told] = [each for each in records if each.kind == "metadata"]
    assert told.field("WARC-Concurrent-To") == answers[0].field("WARC-Record-ID")
    fields = dict(
        line.split(": ", 1) for line in (told.payload or b"").decode().splitlines() if line
    )
    assert fields["tls-version"].startswith("TLSv1.")
    assert fields["tls-cipher-suite"]
    der = base64.b64decode(fields["tls-certificate"])
    assert ssl.DER_cert_to_PEM_cert(der) == site.certificate.decode()
