"""Debian's documentation packages as folders of HTML: downloaded once, never installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Sequence

DOWNLOAD_SECS = 300


class SiteUnavailableError(Exception):
    """This machine cannot provide a site; the message says what it lacks."""


@dataclass(frozen=True)
class SitePackage:
    """A package, the folder of its HTML, and the first segment of the path it is served at.

    Attributes:
        needs: Packages with the files to which its symbolic links lead.
    """

    name: str
    folder: str
    path: str
    needs: tuple[str, ...] = ()


PACKAGES = {
    package.name: package
    for package in (
        SitePackage("apache2-doc", "usr/share/doc/apache2-doc/manual", "httpd"),
        SitePackage("debian-handbook", "usr/share/doc/debian-handbook/html/en-US", "handbook"),
        SitePackage("openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless/api", "jdk"),
        SitePackage("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "postgresql"),
        SitePackage("sqlite3-doc", "usr/share/doc/sqlite3", "sqlite"),
        SitePackage("python3.11-doc", "usr/share/doc/python3.11/html", "python"),
    )
}


def sites_folder() -> Path:
    """Where unpacked packages are kept: NEARDUP_SITES, or a folder of the user's cache."""
    chosen = os.environ.get("NEARDUP_SITES")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "crawl-once" / "sites"


def require_tool(name: str) -> str:
    """The path of a program, looked for in the administrator's folders too.

    Raises:
        SiteUnavailableError: It is not installed.
    """
    # Debian puts nginx in /usr/sbin, which is not on every user's path.
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
    if found is None:
        raise SiteUnavailableError(f"{name} is not installed")
    return found


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True, timeout=DOWNLOAD_SECS
        )
    except subprocess.CalledProcessError as error:
        words = error.stderr.strip().splitlines() or [f"exit status {error.returncode}"]
        raise SiteUnavailableError(f"{' '.join(command)}: {words[-1]}") from error
    except subprocess.TimeoutExpired as error:
        raise SiteUnavailableError(f"{' '.join(command)}: no end in {DOWNLOAD_SECS} s") from error


def _download_and_unpack(names: Sequence[str], target: Path) -> None:
    apt_get, dpkg_deb = require_tool("apt-get"), require_tool("dpkg-deb")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as temporary:
        folder = Path(temporary)
        _run([apt_get, "download", "-qq", *names], folder)
        archives = sorted(folder.glob("*.deb"))
        if len(archives) != len(names):
            raise SiteUnavailableError(f"apt-get download {' '.join(names)}: no package came")
        for archive in archives:
            _run([dpkg_deb, "-x", str(archive), str(folder / "tree")], folder)
        # Whole or not at all: a run that is killed leaves no half of a site behind.
        (folder / "tree").rename(target)


def html_folder(package: SitePackage) -> Path:
    """The HTML of a package, fetched if it is not there yet.

    Raises:
        SiteUnavailableError: Without it and without a way to get it.
    """
    target = sites_folder() / package.name
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.parent / f".{package.name}.lock", timeout=2 * DOWNLOAD_SECS):
            if not target.is_dir():
                _download_and_unpack((package.name, *package.needs), target)
    html = target / package.folder
    if not html.is_dir():
        raise SiteUnavailableError(f"{package.name}: no folder {package.folder} in {target}")
    return html
