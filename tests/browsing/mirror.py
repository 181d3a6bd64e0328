"""A mirror on disk as the browser walks it: which file was served at which URL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urldefrag, urlsplit
from urllib.request import url2pathname

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGES = (".html", ".htm", ".xhtml")


def file_of(url: str) -> Path:
    """The file that a browser opens for a ``file:`` URL, which has no query."""
    return Path(url2pathname(urlsplit(url).path))


@dataclass(frozen=True)
class Mirror:
    """A folder with ``index.html``, and the URL that each of its files was served at."""

    root: Path
    served: Mapping[Path, str]

    @classmethod
    def opened(cls, folder: Path) -> Self:
        """A mirror made by ``crawl-once mirror``, by its own records."""
        root = folder.resolve()
        with closing(sqlite3.connect(root / ".mirror" / "crawl.db")) as connection:
            rows = connection.execute("SELECT path, url FROM files").fetchall()
        return cls(root, {root / path: url for path, url in rows})

    @property
    def start(self) -> str:
        """Where a reader begins."""
        return (self.root / "index.html").as_uri()

    @cached_property
    def origins(self) -> frozenset[str]:
        """The servers that were mirrored."""
        return frozenset(_origin(url) for url in self.served.values())

    @cached_property
    def _urls(self) -> frozenset[str]:
        return frozenset(self.served.values())

    def is_page(self, file: Path) -> bool:
        """Whether a file is a page inside the mirror."""
        return file.suffix in PAGES and file.is_relative_to(self.root) and file.is_file()

    def is_mirrored(self, url: str) -> bool:
        """Whether the mirror says that it has this URL."""
        return urldefrag(url).url in self._urls

    def is_of_the_site(self, url: str) -> bool:
        """Whether a URL belongs to a server that was mirrored."""
        return _origin(url) in self.origins

    def fault_of_link(self, url: str) -> str | None:
        """What is wrong with a link on a page; None: it leads to a file, or away."""
        if not url.startswith("file:"):
            return f"link to the network for what is here: {url}" if self.is_mirrored(url) else None
        file = file_of(url)
        if not file.is_relative_to(self.root):
            return f"link out of the mirror: {url}"
        return None if file.is_file() else f"link to nothing: {url}"


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
