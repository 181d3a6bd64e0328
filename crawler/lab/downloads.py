"""Tables as files, CSV or JSON lines: the pages that a trial judges otherwise, and labels."""

from __future__ import annotations

import csv
import json
import math
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

from crawler.lab.pair_label import label_fields
from neardup.evaluation.judging import LAYERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawler.lab.crawl_source import LabPage
    from crawler.lab.judgement import Judgement, VerdictChanges
    from crawler.lab.pair_label import Label

CSV, JSON_LINES = FORMATS = ("csv", "jsonl")
"""The formats of a table, which are the endings of its file too."""

MEDIA_TYPES = {CSV: "text/csv; charset=utf-8", JSON_LINES: "application/x-ndjson"}

WOULD_BE_KEPT, WOULD_BE_DROPPED = "kept", "dropped"

_PLACES = 6

Fields = dict[str, str | int | float | None]


class TriedBeside(NamedTuple):
    """A judgement by other parameters beside that of the crawl."""

    tried: Judgement
    stored: Judgement

    @property
    def changes(self) -> VerdictChanges:
        """The pages that are kept or dropped otherwise."""
        return self.tried.changes_from(self.stored)


def changed_pages(trial: TriedBeside, pages: Sequence[LabPage]) -> Iterator[Fields]:
    """Yield a row for each page that is kept or dropped otherwise, in crawl order.

    ``repeats``, ``distance``, ``similarity`` and ``containment`` are those of the judgement that
    drops the page: the tried one where it would be dropped, that of the crawl where it would be
    kept.
    """
    changes = trial.changes
    rows = [(place, True) for place in changes.now_kept.tolist()]
    rows += [(place, False) for place in changes.now_dropped.tolist()]
    for place, is_kept in sorted(rows):
        drops = trial.stored if is_kept else trial.tried
        original, bits = drops.named(place), int(drops.distance[place])
        yield {
            "url": pages[place].url,
            "title": pages[place].title,
            "tried": WOULD_BE_KEPT if is_kept else WOULD_BE_DROPPED,
            "layer_stored": LAYERS[trial.stored.layer[place]],
            "layer_tried": LAYERS[trial.tried.layer[place]],
            "repeats": pages[original].url if original >= 0 else None,
            "distance": bits if bits >= 0 else None,
            "similarity": _share(float(drops.similarity[place])),
            "containment": _share(drops.containment_of(place)),
        }


def label_rows(labels: Iterable[Label]) -> Iterator[Fields]:
    """Yield a row for each label; as JSON lines they are a file ``FILE.labels.jsonl``."""
    for label in labels:
        yield dict(label_fields(label))


def table_bytes(rows: Iterable[Mapping[str, object]], kind: str) -> bytes:
    """Write rows with the same fields as a file of UTF-8; a missing value is empty or ``null``.

    Args:
        rows: The rows.
        kind: One of ``FORMATS``.
    """
    file = StringIO(newline="")
    if kind == JSON_LINES:
        # Halves of surrogate pairs have no UTF-8.
        file.writelines(json.dumps(row) + "\n" for row in rows)
    else:
        known = list(rows)
        writer = csv.DictWriter(file, known[0] if known else ())
        writer.writeheader()
        writer.writerows(known)
    return file.getvalue().encode("utf-8", "replace")


def _share(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, _PLACES)
