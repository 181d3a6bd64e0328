"""A mirror that a test makes by hand: what was served, without a crawl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.mirror.checking import Check, Checker
from crawler.mirror.file_store import MirrorStore
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.link_rewriting import Finisher
from crawler.pages.page_context import Fetched
from crawler.storage.database import Database
from crawler.url_rules.variants import PageKeys
from crawler.urls.canonical import Canonicalizer

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.mirror.file_table import FileTable
    from crawler.mirror.link_rewriting import FinishedMirror

HTML = "text/html; charset=utf-8"
canonicalize = Canonicalizer()


class KilledError(Exception):
    """The process ends here, as if it were killed."""


class DyingFolder(MirrorFolder):
    """Ends the process, as far as it can tell, before a write, link or removal of a file."""

    left: int | None = None

    def _count(self) -> None:
        if self.left is not None:
            if self.left == 0:
                raise KilledError
            self.left -= 1

    def write(self, path: str, data: object) -> None:
        self._count()
        super().write(path, data)  # type: ignore[arg-type]

    def link(self, path: str, existing: str) -> None:
        self._count()
        super().link(path, existing)

    def remove(self, path: str) -> None:
        self._count()
        super().remove(path)


@dataclass
class MadeMirror:
    """Opened as a process opens it; ``close`` and make another one for the next process."""

    root: Path

    def __post_init__(self) -> None:
        (self.root / ".mirror").mkdir(parents=True, exist_ok=True)
        self.folder = DyingFolder(self.root)
        self.database = Database(self.root / ".mirror")
        self.store = MirrorStore(self.database, self.folder)

    @property
    def table(self) -> FileTable:
        return self.store.table

    def serve(
        self, url: str, body: bytes, content_type: str | None = HTML, *, is_seed: bool = False
    ) -> None:
        """Keep an answer, and commit."""
        key = canonicalize.key(url)
        fetched = Fetched(url, canonicalize(url), key, 0, 200, body, content_type)
        self.store.keep(fetched, is_seed=is_seed)
        self.database.commit()

    def redirect(self, url: str, target: str, fragment: str = "") -> None:
        """Note a redirect of this visit."""
        self.database.write(
            "INSERT OR REPLACE INTO redirects VALUES (?, ?, ?, ?)",
            (canonicalize.key(url), url, canonicalize.key(target), fragment),
        )
        self.database.commit()

    def finish(self) -> FinishedMirror:
        """Rewrite the links, of what was served since the last time without reading it again."""
        start, keys = "http://host.example/", PageKeys(self.database.read)
        read = self.store.documents
        finisher = Finisher(
            self.database, self.folder, start, keys, lambda done, total: None, read=read
        )
        return finisher.finish()

    def check(self) -> Check:
        return Checker(self.table, self.folder, lambda done, total: None).check()

    def read(self, url: str) -> bytes:
        """The file of a URL."""
        row = self.table.of_key(canonicalize.key(url))
        assert row is not None
        return self.folder.read(row.path)

    def close(self) -> None:
        self.folder.close()
        self.database.close()

    def die(self) -> None:
        """Lose what was not committed."""
        self.folder.close()
        self.database.fail("killed")
        self.database.close()
