"""Links are rewritten by processes that are killed before any one of their steps."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from crawler.mirror.checking import Checker
from crawler.mirror.file_store import MirrorStore, file_content
from crawler.mirror.file_table import FileTable
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.link_rewriting import Finisher
from crawler.pages.page_context import Fetched
from crawler.storage.database import Database
from crawler.url_rules.variants import PageKeys
from crawler.urls.canonical import Canonicalizer
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

ORIGIN = "http://h.test/"
LINKS = "<a href=a>a</a> <a href=b>b</a> <a href=c>c</a> <a href=d>d</a>"
PAGES = {name: f"<!doctype html><p>{name} {LINKS}".encode() for name in ("", "a", "b", "c")}
STEPS = ("rename", "unlink", "link")


class Mirror:
    """A mirror of a few pages, brought into agreement in processes of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / ".mirror").mkdir(parents=True)
        self.canonicalizer = Canonicalizer()

    def keep(self, pages: dict[str, bytes]) -> None:
        with closing(Database(self.root / ".mirror")) as database, MirrorFolder(self.root) as files:
            store = MirrorStore(database, files)
            for name, content in pages.items():
                url = ORIGIN + name
                fetched = Fetched(
                    url, url, self.canonicalizer.key(url), 0, 200, content, "text/html"
                )
                store.keep(fetched, is_seed=not name)
            database.commit()

    def finish(self) -> None:
        with closing(Database(self.root / ".mirror")) as database, MirrorFolder(self.root) as files:
            keys = PageKeys(database.read)
            Finisher(database, files, ORIGIN, keys, lambda done, total: None).finish()

    def finish_and_die(self, step: int) -> bool:
        """Be killed before a step; False where there are fewer of them."""
        child = os.fork()
        if not child:
            die_before(step)
            self.finish()
            os._exit(0)
        return os.waitpid(child, 0)[1] == signal.SIGKILL

    def assert_whole(self) -> None:
        with closing(Database(self.root / ".mirror")) as database, MirrorFolder(self.root) as files:
            table = FileTable(database.read)
            found = Checker(table, files, lambda done, total: None).check()
            assert found.findings == {}
            for row in table.rows("state = 'own'"):
                assert payload_digest(file_content(files, row).served) == row.payload_digest


def die_before(step: int) -> None:
    """Count what changes the folder, and every commit; kill this process before one of them."""
    left = step

    def counted(act: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return act(*arguments, **named)

        return counting

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    Database.commit = counted(Database.commit)  # type: ignore[method-assign]


def test_at_every_step_and_once_more_where_links_lead_elsewhere(tmp_path: Path) -> None:
    first = second = 0
    while True:
        mirror = Mirror(tmp_path / f"{first}-{second}")
        mirror.keep(PAGES)
        is_first = mirror.finish_and_die(first)
        mirror.keep({"d": b"<!doctype html><p>d, to which all of them lead"})
        is_second = mirror.finish_and_die(second)
        mirror.finish()
        mirror.assert_whole()
        if not is_first:
            break
        first, second = (first, second + 1) if is_second else (first + 1, 0)
    assert first > len(PAGES)
