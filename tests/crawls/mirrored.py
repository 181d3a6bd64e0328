"""A mirror as its user finds it: files on the disk, read without any code of ours."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin

from lxml import html

from tests.crawls.command import scrapy

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.sites.hostile import HostileSite
    from tests.sites.serving import MadeSite


_ADDRESSES = "//@href | //@src"


@dataclass(frozen=True)
class Mirrored:
    """The folder of a mirror, and what the command printed."""

    folder: Path
    done: subprocess.CompletedProcess[str]

    @property
    def files(self) -> set[str]:
        """The paths of all files but those of the state."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return {path.as_posix() for path in found if path.parts[0] != ".mirror"}

    @property
    def pages(self) -> set[str]:
        """Of the site, the files that are HTML."""
        return {path for path in self.files if "/" in path and path.endswith(".html")}

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def json(self, name: str) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.folder / name).read_text(encoding="utf-8"))
        return loaded

    def addresses(self, path: str) -> list[str]:
        """What the attributes of a page hold, in its order."""
        return list(html.fromstring(self.read(path)).xpath(_ADDRESSES))

    def targets(self, path: str) -> set[str]:
        """Paths to which a page leads within the mirror, as from file://."""
        base = "file:///" + path
        urls = (urldefrag(urljoin(base, address)).url for address in self.addresses(path))
        return {unquote(url.removeprefix("file:///")) for url in urls if url.startswith("file:")}

    @property
    def served(self) -> dict[str, bytes]:
        """Digests of what was served, by URL."""
        with closing(sqlite3.connect(self.folder / ".mirror" / "crawl.db")) as connection:
            return dict(connection.execute("SELECT url, payload_digest FROM files"))

    def path_of(self, url: str) -> str | None:
        """The file of its own that a URL has."""
        with closing(sqlite3.connect(self.folder / ".mirror" / "crawl.db")) as connection:
            row = connection.execute(
                "SELECT path FROM files WHERE url = ? AND state = 'own'", (url,)
            ).fetchone()
        return None if row is None else str(row[0])


def mirror(url: str, folder: Path, *arguments: str, status: int = 0) -> Mirrored:
    """Mirror a site and expect that the command ends so."""
    done = scrapy("mirror", url, str(folder), *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return Mirrored(folder, done)


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Let the command prove a mirror."""
    return scrapy("mirror", "check", str(folder))


def host(site: HostileSite | MadeSite) -> str:
    """Return the name of the folder that a mirror has for a site."""
    return site.origin.removeprefix("http://").replace(":", "+")
