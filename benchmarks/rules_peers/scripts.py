"""Sites that a shell script beside the project serves, for as long as a ``with`` block lasts."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from tests.sites.nginx import free_port
from tests.sites.packages import SiteUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCRIPTS_VARIABLE = "RULES_SITE_SCRIPTS"
START_SECS = 180  # the first time packages are downloaded
STOP_SECS = 5


def script_file(name: str) -> Path:
    """A script in the folder that ``RULES_SITE_SCRIPTS`` names, or in the one beside the project.

    Raises:
        SiteUnavailableError: It is not there.
    """
    chosen = os.environ.get(SCRIPTS_VARIABLE)
    beside = Path(__file__).resolve().parents[3] / "shared" / "sites"
    file = (Path(chosen) if chosen else beside) / name
    if not file.exists():
        raise SiteUnavailableError(f"{name} is not in {file.parent}")
    return file


@contextmanager
def served_by_script(
    script: Path, environment: Mapping[str, str], *arguments: str, path: str = "/"
) -> Iterator[str]:
    """Run ``script PORT ARGUMENTS`` until the block ends, and yield the origin.

    Raises:
        SiteUnavailableError: Nobody answers at ``path``.
    """
    origin = f"http://127.0.0.1:{(port := free_port())}"
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            ["bash", str(script), str(port), *arguments],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            if not _answers(process, origin + path):
                said.seek(0)
                words = said.read().decode(errors="replace").strip().splitlines()[-1:]
                raise SiteUnavailableError(f"{script.name} does not start: {words}")
            yield origin
        finally:
            _stop(process)


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    deadline = time.monotonic() + START_SECS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(url, timeout=10):
                return True
        except (URLError, OSError):
            time.sleep(0.1)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server and its children, which are a session of their own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(STOP_SECS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
