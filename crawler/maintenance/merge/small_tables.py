"""What the directory of all crawls says of itself, and what people said of its texts."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from crawler.maintenance.merge.merged_crawls import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.maintenance.merge.merged_crawls import Source
    from crawler.storage.database import Database

_ALIKE = ("plan", "visit_plan")
_LABEL = """
INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (first, second) DO UPDATE SET
    label = excluded.label, first_url = excluded.first_url, second_url = excluded.second_url,
    labelled_at = excluded.labelled_at WHERE excluded.labelled_at > labels.labelled_at
"""


def merge_meta(database: Database, sources: Sequence[Source]) -> int:
    """Write what holds for all; the number of the last visit.

    What the crawl was about stands there where it was the same everywhere.
    """
    first = sources[0].meta
    for name in IDENTITY:
        if name in first:
            database.set_meta(name, first[name])
    for name in _ALIKE:
        if name in first and all(source.meta.get(name) == first[name] for source in sources):
            database.set_meta(name, first[name])
    visit = max(int(source.meta.get("visit", 0)) for source in sources)
    last = max(int(source.meta.get("last_visit", 0)) + source.shift for source in sources)
    database.set_meta("visit", str(visit))
    database.set_meta("last_visit", str(last))
    database.set_meta("sitemaps", str(sum(int(one.meta.get("sitemaps", 0)) for one in sources)))
    database.set_meta("stages", json.dumps(_stages(sources)))
    _merge_settings(database, sources)
    for source in sources:
        database.write_many(_LABEL, source.connection.execute("SELECT * FROM labels"))
    return visit


def _stages(sources: Sequence[Source]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for source in sources:
        total.update(json.loads(source.meta.get("stages", "{}")))
    return dict(total)


def _merge_settings(database: Database, sources: Sequence[Source]) -> None:
    """What settings said last, and where seeds led."""
    moved: dict[str, str] = {}
    names: set[str] = set()
    for source in sources:
        moved |= json.loads(source.meta.get("moved_seeds", "{}"))
        names |= set(json.loads(source.meta.get("private_names", "[]")))
    database.set_meta("moved_seeds", json.dumps(moved))
    database.set_meta("private_names", json.dumps(sorted(names)))
    newest = "SELECT max(since) FROM parameters"
    last = max(sources, key=lambda source: source.one(newest)[0] or 0.0)
    if "settings_parameters" in last.meta:
        database.set_meta("settings_parameters", last.meta["settings_parameters"])
