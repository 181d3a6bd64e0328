"""The sites: two made ones, SQLite's pages behind PHP sessions, gitweb, documentation."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rules_peers.scripts import script_file, served_by_script
from tests.sites.dynamic import CLUTTERED, DynamicSite, Options
from tests.sites.dynamic.parts import PARTS
from tests.sites.nginx import debian_site
from tests.sites.packages import (
    PACKAGES,
    SiteUnavailableError,
    html_folder,
    require_tool,
    sites_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

ROOT = Path(__file__).resolve().parents[2]
GIT_VARIABLE = "RULES_GIT_DIRECTORY"

TRAPS = Options(
    parts=tuple(PARTS), boards=4, articles=25, session="path", session_name="s", soft_errors=True
)
"""Every part of the made site at once; it ends nowhere, and would teach wrong rules."""


@dataclass(frozen=True)
class Served:
    """A site while it is served.

    ``made`` is there where the site itself knows what it said to whom.
    """

    site: str
    url: str
    made: DynamicSite | None = None

    @property
    def total(self) -> int | None:
        """How many distinct pages there are, if anybody knows."""
        return len(self.made.truth) if self.made else None

    def forget(self) -> None:
        """Let the next crawl begin."""
        if self.made:
            self.made.forget()

    def names(self) -> list[str | None] | None:
        """What each fetch brought by the site's own word; None where the pages must be read."""
        if self.made is None:
            return None
        truth = self.made.truth
        return [one.content if one.content in truth else None for one in self.made.fetches]


@contextmanager
def _made(site: str, options: Options) -> Iterator[Served]:
    with DynamicSite(options) as made:
        yield Served(site, made.url, made)


@contextmanager
def _documentation(package: str) -> Iterator[Served]:
    with debian_site(package) as served:
        yield Served(package, served.url)


@contextmanager
def _sessions(site: str, session_name: str) -> Iterator[Served]:
    require_tool("php")
    pages = html_folder(PACKAGES["sqlite3-doc"])
    with tempfile.TemporaryDirectory(prefix="php-") as folder:
        (Path(folder) / "name.ini").write_text(f"session.name={session_name}\n")
        environment = {"BASE": folder, "PHP_INI_SCAN_DIR": f":{folder}"}
        script = script_file("serve_sessionid.sh")
        with served_by_script(script, environment, str(pages)) as origin:
            yield Served(site, f"{origin}/")


@contextmanager
def _gitweb(site: str) -> Iterator[Served]:
    require_tool("dpkg-deb")
    script = script_file("serve_gitweb.sh")
    with tempfile.TemporaryDirectory(prefix="gitweb-") as folder:
        base = Path(folder)
        downloads = sites_folder() / ".debs"
        downloads.mkdir(parents=True, exist_ok=True)
        (base / "debs").symlink_to(downloads)
        # The script names the repository after the folder, and a checkout's is just ".git".
        (base / "project").symlink_to(_git_directory())
        environment = {"BASE": folder, "GIT_SRC": str(base / "project")}
        with served_by_script(script, environment, path="/gitweb/") as origin:
            # Its pages are /gitweb?p=..., without a slash.
            yield Served(site, f"{origin}/gitweb")


def _git_directory() -> Path:
    chosen = os.environ.get(GIT_VARIABLE)
    if chosen:
        return Path(chosen).resolve()
    asked = [require_tool("git"), "rev-parse", "--git-common-dir"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SiteUnavailableError(f"no git directory: name one by {GIT_VARIABLE}")
    return (ROOT / done.stdout.strip()).resolve()


SITES: dict[str, Callable[[], AbstractContextManager[Served]]] = {
    "made": lambda: _made("made", CLUTTERED),
    "traps": lambda: _made("traps", TRAPS),
    "sessions": lambda: _sessions("sessions", "PHPSESSID"),
    "sessions-renamed": lambda: _sessions("sessions-renamed", "visit"),
    "gitweb": lambda: _gitweb("gitweb"),
    "python3.11-doc": lambda: _documentation("python3.11-doc"),
    "postgresql-doc-15": lambda: _documentation("postgresql-doc-15"),
}
"""Each raises ``SiteUnavailableError`` where this machine lacks what it needs."""
