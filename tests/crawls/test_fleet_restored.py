"""A fleet over TLS, as a user with few rights, goes on from a dump in another Redis."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import PROJECT, scrapy
from tests.crawls.fleet import (
    NAME,
    Fleet,
    assert_nothing_lost_or_kept_twice,
    finish,
    shown,
)
from tests.servers.redis import RedisServer, ServerUnavailableError, free_port, program
from tests.sites.hosts import ManyHosts
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGES = 60
_RULES = re.compile(r"^ACL (SETUSER crawler on >PASSWORD .*?)( \+bf\..*)?$", re.MULTILINE)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that vouches for itself, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here")
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-out", str(made[0]), "-keyout", str(made[1])),
        ],
        check=True,
        capture_output=True,
    )
    return made


@contextmanager
def guarded_server(
    folder: Path, certificate: tuple[Path, Path], *options: str
) -> Iterator[tuple[RedisServer, str]]:
    """A server with TLS and the user of docs/fleet.md, and the URL for that user."""
    try:
        program()
    except ServerUnavailableError as lack:
        pytest.skip(f"no Redis here: {lack}")
    port, (public, key) = free_port(), certificate
    tls = (
        *("--tls-port", str(port), "--tls-auth-clients", "no", "--tls-ca-cert-file", str(public)),
        *("--tls-cert-file", str(public), "--tls-key-file", str(key)),
    )
    with RedisServer(folder, *tls, *options) as server:
        rules = _RULES.search((PROJECT / "docs" / "fleet.md").read_text("utf-8"))
        assert rules is not None
        with server.client() as client:
            client.execute_command("ACL", *rules[1].replace("PASSWORD", "opensesame").split(" "))
        url = f"rediss://crawler:opensesame@127.0.0.1:{port}/0?ssl_ca_certs={public}"
        yield server, url


def denied(server: RedisServer) -> list[object]:
    """What the user was not allowed."""
    with server.client() as client:
        found: list[object] = client.acl_log()
        return found


def test_a_fleet_over_tls_with_few_rights_goes_on_from_a_dump(
    certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    # So slow that both ask for pages before all are fetched, and neither is taken for dead.
    settings = ("CONCURRENT_REQUESTS_PER_DOMAIN=1", "FLEET_LEASE_SECS=60")
    options = tuple(part for setting in settings for part in ("-s", setting))
    with ManyHosts(PAGES, 4, answer_secs=0.1, agents=2) as site:
        with guarded_server(tmp_path / "one", certificate) as (server, url):
            fleet = Fleet(site, url, tmp_path, options)
            with fleet.running(2) as (first, second):
                # A signal ends a process well that asks for pages, not one that is still starting.
                wait_until(lambda: len({asked.agent for asked in site.asked}) == 2)
                for process in (first, second):
                    process.send_signal(signal.SIGINT)
                for process in (first, second):
                    finish(process)
            assert shown(url)["workers"] == {}
            assert scrapy("fleet", url, "pause").returncode == 0
            assert scrapy("tune", url, "max_distance=4").returncode == 0
            untrusted = scrapy("fleet", url.partition("?")[0])
            assert untrusted.returncode == 2
            assert "certificate verify failed" in untrusted.stderr
            assert denied(server) == []
            with server.client() as client:
                client.save()
        (tmp_path / "two").mkdir()
        shutil.copy(tmp_path / "one" / "dump.rdb", tmp_path / "two" / "fleet.rdb")
        dump = ("--dbfilename", "fleet.rdb", "--appendonly", "no")
        with guarded_server(tmp_path / "two", certificate, *dump) as (server, url):
            with server.client() as client:
                client.config_set("appendonly", "yes")
            assert shown(url)["is_paused"]
            assert scrapy("fleet", url, "resume").returncode == 0
            fleet.url = url
            fleet.crawl(2)
            assert denied(server) == []
            assert set(site.counts.values()) <= {1, 2}
            assert_nothing_lost_or_kept_twice(fleet)
            assert scrapy("fleet", url, "--forget", NAME, "--yes").returncode == 0
            assert denied(server) == []
