"""What the lab says of other parameters, and what the store of a crawl says of its pages."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from crawler.lab.crawl_source import CrawlSource
from crawler.lab.judgement import Choice
from crawler.lab.session import Session
from crawler.maintenance.rejudge.new_verdicts import JUDGED
from crawler.storage.database import open_for_reading
from neardup.evaluation.near_arrays import LAYERS

if TYPE_CHECKING:
    from pathlib import Path

    from neardup import Parameters

VERDICT_OF = {
    "payload": "exact_duplicate",
    "text": "text_duplicate",
    "simhash": "near_duplicate",
    "candidate": "near_duplicate",
}
"""By layers; those that keep a page are called as the verdict is."""

Verdicts = list[tuple[int, str, int | None]]


def tried(folder: Path, parameters: Parameters) -> Verdicts:
    """What the lab says of each page: its id, a verdict, the page that it repeats."""
    session = _session(folder)
    found = session.judge(Choice(parameters))
    ids = [page.id for page in session.pages]
    layers = [LAYERS[layer] for layer in found.layer]
    originals = [None if place < 0 else ids[place] for place in found.original.tolist()]
    kinds = [VERDICT_OF.get(layer, layer) for layer in layers]
    return list(zip(ids, kinds, originals, strict=True))


def changes(folder: Path, parameters: Parameters) -> tuple[int, int]:
    """Count what the lab says would be kept, and what would be dropped, otherwise than it is."""
    session = _session(folder)
    found = session.judge(Choice(parameters)).changes_from(session.stored())
    return len(found.now_kept), len(found.now_dropped)


def _session(folder: Path) -> Session:
    source = CrawlSource(folder)
    session = Session(source.texts, source.parameters(), source.boilerplate)
    while slice_ := source.read_new():
        session.extend(slice_)
    return session


def stored(folder: Path) -> Verdicts:
    """What the store says of the same pages."""
    sql = f"SELECT id, verdict, duplicate_of FROM pages WHERE {JUDGED} ORDER BY id"
    with closing(open_for_reading(folder)) as connection:
        return [(row[0], row[1], row[2]) for row in connection.execute(sql)]
