"""A real nginx on a free loopback port, with a configuration of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.sites.packages import PACKAGES, SiteUnavailableError, html_folder, require_tool
from tests.waiting import attempts

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECS = 10
STOP_SECS = 5
LOG_SECS = 5

_TYPES = """
    text/html html htm; text/css css; text/plain txt; text/xml xml; text/javascript js mjs;
    image/png png; image/svg+xml svg; image/gif gif; image/jpeg jpg jpeg; image/x-icon ico;
    image/webp webp; font/woff woff; font/woff2 woff2; application/json json;
    application/pdf pdf; application/zip zip; application/gzip gz;
"""

_CONFIGURATION = """
{user}
daemon off;
worker_processes 1;
pid "{folder}/nginx.pid";
error_log "{folder}/error.log";
events {{ worker_connections 512; }}
http {{
  types {{ {types} }}
  default_type application/octet-stream;
  log_format short '$status $request_method $request_uri';
  access_log "{folder}/access.log" short;
  client_body_temp_path "{folder}/client";
  proxy_temp_path "{folder}/proxy";
  fastcgi_temp_path "{folder}/fastcgi";
  uwsgi_temp_path "{folder}/uwsgi";
  scgi_temp_path "{folder}/scgi";
  sendfile on;
  keepalive_requests 100000;
  gzip on;
  etag on;
  {maps}
  server {{
    listen 127.0.0.1:{port};
    index index.html;
    autoindex off;
    {locations}
  }}
}}
"""


@dataclass(frozen=True)
class Layout:
    """Where a folder's files are found: nginx's words, with ROOT for the folder, PATH for the path.

    Attributes:
        locations: For the server.
        maps: Variables that they use.
    """

    locations: str
    maps: str = ""


PLAIN = Layout('location / { return 404; } location /PATH/ { alias "ROOT/"; }')


@dataclass(frozen=True)
class Answered:
    """A line of the server's log."""

    status: int
    method: str
    target: str


@dataclass(frozen=True)
class ServedSite:
    """A folder of HTML behind nginx: where it begins, where its files lie, its log."""

    url: str
    root: Path
    log: Path

    def answered(self, at_least: int = 0) -> list[Answered]:
        """Every request answered so far, in order.

        nginx writes its line after the client has the answer: whoever counts on a request says
        how many lines are due, and up to ``LOG_SECS`` are spent waiting for them.
        """
        whole: list[list[str]] = []
        for _ in attempts(LOG_SECS):
            lines = self.log.read_text().splitlines(keepends=True)
            whole = [line.split(" ", 2) for line in lines if line.endswith("\n")]
            if len(whole) >= at_least:
                break
        return [Answered(int(status), verb, target.strip()) for status, verb, target in whole]


def free_port() -> int:
    """A loopback port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _configure(root: Path, path: str, layout: Layout, folder: Path) -> int:
    port = free_port()
    # Started by root, nginx hands its worker to "nobody", who cannot look into /root.
    user = "user root;" if os.geteuid() == 0 else ""
    locations = layout.locations.replace("ROOT", str(root)).replace("PATH", path)
    text = _CONFIGURATION.format(
        user=user, folder=folder, types=_TYPES, port=port, maps=layout.maps, locations=locations
    )
    (folder / "nginx.conf").write_text(text)
    return port


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _start(folder: Path, port: int) -> subprocess.Popen[bytes] | None:
    """The running server, None if it gave up: somebody was faster to take the port."""
    arguments = ["-p", str(folder), "-c", "nginx.conf", "-e", str(folder / "error.log")]
    process = subprocess.Popen(
        [require_tool("nginx"), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in attempts(START_SECS):
        # nginx writes the file once it holds the port; before, somebody else may answer there.
        if process.poll() is None and (folder / "nginx.pid").exists() and _answers(port):
            return process
        if process.poll() is not None:
            break
    _stop(process)
    return None


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def serve(root: Path, path: str, layout: Layout = PLAIN) -> Iterator[ServedSite]:
    """Serve a folder below ``/path/``, or ``/`` without one, while the ``with`` block lasts.

    Raises:
        SiteUnavailableError: nginx is missing or does not start.
    """
    folder = Path(tempfile.mkdtemp(prefix="nginx-"))
    process = None
    try:
        for _ in range(3):
            port = _configure(root, path, layout, folder)
            process = _start(folder, port)
            if process is not None:
                break
        else:
            log = folder / "error.log"
            words = log.read_text().strip().splitlines() if log.exists() else []
            raise SiteUnavailableError(f"nginx does not start: {words[-1:]}")
        url = f"http://127.0.0.1:{port}/{path}/" if path else f"http://127.0.0.1:{port}/"
        yield ServedSite(url, root, folder / "access.log")
    finally:
        if process is not None:
            _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def debian_site(package: str) -> Iterator[ServedSite]:
    """Serve the HTML of one of the ``PACKAGES``, downloaded if need be.

    Raises:
        SiteUnavailableError: nginx or the package is missing.
    """
    known = PACKAGES[package]
    require_tool("nginx")
    with serve(html_folder(known), known.path) as site:
        yield site
