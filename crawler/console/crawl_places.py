"""Choose the directory of a crawl for which none is named: a directory is one scope."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from crawler.console.command_line import CommandError
from crawler.mirror.paths import STATE_FOLDER
from crawler.pages.export import stored_urls
from crawler.pages.visits import has_page
from crawler.spiders.arguments import scope_of, seeds_of
from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, open_for_reading

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from crawler.spiders.page_spider import PageSpider

_HELD = "SELECT name, value FROM meta WHERE name IN (?, ?)"


class Place(NamedTuple):
    """A directory, and why it is not the one that is named like the host; empty: it is."""

    folder: Path
    why: str = ""


def crawl_place(parent: Path, spidercls: type[PageSpider], arguments: Mapping[str, str]) -> Place:
    """Return the directory of a crawl below ``CRAWL_DIRECTORY``.

    Raises:
        JobError: The directory that is in question cannot be read.
    """
    names = spidercls.folder_name(arguments), spidercls.own_folder_name(arguments)
    scope = spidercls.scope_name(arguments)
    return chosen_place(parent, names, scope, held_scopes) if scope else Place(parent / names[0])


def chosen_place(
    parent: Path, names: tuple[str, str], scope: str, held: Callable[[Path], list[str]]
) -> Place:
    """Return the directory that holds a scope, or the one that it is to have.

    The first scope of a host has the directory of the host, each other one its own beside it, so
    that the same scope finds its directory again, whatever else was crawled or deleted meanwhile.

    Args:
        parent: The folder of all directories.
        names: The name of the host's directory, and of the scope's own.
        scope: The scope, as ``held`` names it.
        held: Returns the scopes that a directory holds; none where there is no crawl in it.
    """
    of_host, own = (parent / name for name in names)
    there = held(of_host)
    why = f"{of_host} holds {', '.join(there)}"
    if scope in held(own):
        return Place(own, why if there else "")
    if not there or scope in there:
        return Place(of_host)
    return Place(own, why)


def refuse_mirror(folder: Path) -> None:
    """Refuse to crawl into the folder of a mirror, whose files are those of a site.

    Raises:
        CommandError: A mirror is in it, or it is the state of one.
    """
    inner = folder if folder.name == STATE_FOLDER else folder / STATE_FOLDER
    if (inner / FILE_NAME).is_file():
        raise CommandError(
            f"{folder}: a mirror, into which nothing is crawled; "
            f"crawl-once mirror {inner.parent} brings it up to date"
        )


def held_scopes(folder: Path) -> list[str]:
    """Return the scopes that a crawl directory holds, or the plan of a crawl without a scope.

    A directory without a page holds none.

    Raises:
        JobError: Its database cannot be read.
    """
    if not (folder / FILE_NAME).is_file():
        return []
    with closing(open_for_reading(folder)) as connection:
        if not has_page(connection.execute):
            return []  # of a misspelt URL there is nothing to keep apart
        found = dict(connection.execute(_HELD, (meta_names.SCOPES, meta_names.PLAN)).fetchall())
    scopes = json.loads(found.get(meta_names.SCOPES, "[]"))
    return scopes or ([found[meta_names.PLAN]] if meta_names.PLAN in found else [])


def kept_outside(connection: sqlite3.Connection, arguments: Mapping[str, str]) -> int:
    """Return the number of kept pages outside the scope of arguments.

    Complexity: O(pages).
    """
    scope = scope_of(seeds_of(arguments), dict(arguments))
    return sum(not scope.allows(url) for url in stored_urls(connection, kept_only=True))
