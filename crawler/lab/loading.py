"""A session over everything that sources hold now."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from crawler.lab.crawl_source import SourceError
from crawler.lab.crawl_sources import open_sources
from crawler.lab.session import Session
from crawler.pages.page_selection import ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from crawler.lab.crawl_sources import Sources
    from crawler.pages.page_selection import PageSelection

    Watch = Callable[[float, str], None]

_TRIES = 3


@dataclass(frozen=True)
class Loaded:
    """Sources that were read to their end, and the session that took their pages."""

    sources: Sources
    session: Session


def loaded(
    paths: Sequence[Path],
    watch: Watch,
    selection: PageSelection = ALL,
    made: Mapping[Path, Path] = MappingProxyType({}),
) -> Loaded:
    """Open crawl directories and read them.

    Args:
        paths: As ``open_sources`` takes them.
        watch: Called with the share that is done, 0 to 1, and words for what is being done.
        selection: The pages that are read.
        made: As ``open_sources`` takes it.

    Raises:
        SourceError: One cannot be read, or there is no page in any.
    """
    for last in (False,) * (_TRIES - 1) + (True,):
        sources = open_sources(paths, selection, made)
        session = _read(sources, watch, selection)
        # A crawl that fetches pages again replaced some of them meanwhile.
        if last or not sources.is_superseded():
            break
    return Loaded(sources, session)


def _read(sources: Sources, watch: Watch, selection: PageSelection) -> Session:
    session = Session(sources.texts, sources.parameters(), sources.boilerplate)
    while pages := sources.read_new():
        session.extend(pages)
        watch(sources.progress, f"{len(session):,} pages read")
    if not len(session):
        which = "page with a text" if selection == ALL else "chosen page with a text"
        raise SourceError(f"{sources.name}: no {which} in it")
    return session
