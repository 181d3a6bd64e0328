"""``python -m neardup FILE``: which texts of a file repeat which?"""

import json
import sqlite3
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from neardup.command_line.arguments import parameters_of
from neardup.command_line.row import Id, RowSource, many
from neardup.command_line.row_formats import open_rows
from neardup.command_line.streams import json_line, open_output, open_partial
from neardup.deduplicator import Deduplicator
from neardup.errors import BadInputError, InputError
from neardup.parameters import Parameters
from neardup.storage.sqlite import SqliteDocuments
from neardup.verdict import (
    CONTAINED,
    NEAR_DUPLICATE,
    SAME_TEMPLATE,
    TEXT_DUPLICATE,
    TOO_SHORT,
    Verdict,
)

_TABLE = """
CREATE TABLE verdicts (
  number INTEGER PRIMARY KEY,  -- place in the input
  id TEXT NOT NULL,            -- the user's, as JSON
  kept INTEGER NOT NULL,       -- number of the kept text: its own, or that which it repeats
  kind TEXT NOT NULL,
  tier TEXT,
  distance INTEGER,
  similarity REAL,
  resembles INTEGER,           -- number of the kept text of another name that it resembles
  part_of INTEGER,             -- number of the kept text that it is a part of
  containment REAL             -- the share of it that stands there, or in the text that it repeats
) STRICT
"""

_INSERT = "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SET_CONTAINER = """
UPDATE verdicts SET part_of = ?, containment = ? WHERE number = ? AND part_of IS NULL
"""
_CLUSTERS = """
SELECT kept, id, kind, tier, distance, similarity, containment,
       (SELECT id FROM verdicts AS other WHERE other.number = verdicts.resembles),
       (SELECT id FROM verdicts AS whole WHERE whole.number = verdicts.part_of)
FROM verdicts ORDER BY kept, number
"""

_EMPTY = "empty"

_ID_NAMES = ("url", "id")
"""The fields that are the id where none is named; the first one in the first row counts."""

_MAX_NAMED = 10
"""The largest number of repeated ids that are named."""


class Ledger:
    """The verdicts of a run: each text with the kept text that it repeats.

    Files:
        ``path``: SQLite, for one run; nothing is made durable.
    """

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        with _disk_checked():
            for pragma in ("journal_mode = OFF", "synchronous = OFF"):
                self._database.execute(f"PRAGMA {pragma}")
            self._database.execute(_TABLE)
            self._database.execute("BEGIN")

    def close(self) -> None:
        self._database.close()

    def add(self, number: int, name: Id, verdict: Verdict) -> None:
        """Note what became of a text."""
        kept = number if verdict.duplicate_of is None else verdict.duplicate_of
        found = (
            verdict.kind,
            verdict.tier,
            verdict.distance,
            verdict.similarity,
            verdict.resembles,
            verdict.part_of,
            verdict.containment,
        )
        row = (number, json.dumps(name), kept, *found)
        parts = [(number, part.containment, part.id) for part in verdict.parts]
        with _disk_checked():
            self._database.execute(_INSERT, row)
            self._database.executemany(_SET_CONTAINER, parts)

    def clusters(self, *, singles: bool) -> Iterator[dict[str, Any]]:
        """Yield each kept text with its duplicates, in the order of the input.

        Args:
            singles: Whether texts without a duplicate come too.
        """
        with _disk_checked():
            self._database.execute("CREATE INDEX clusters ON verdicts (kept, number)")
            # The kept text comes first: what repeats it was judged later.
            for _, rows in groupby(self._database.execute(_CLUSTERS), key=lambda row: row[0]):
                (_, name, *_, containment, resembles, part_of), *duplicates = rows
                if duplicates or singles:
                    cluster = {
                        "kept": json.loads(name),
                        "duplicates": [_duplicate(*row[1:-2]) for row in duplicates],
                    }
                    if resembles is not None:
                        cluster["resembles"] = json.loads(resembles)
                    if part_of is not None:
                        cluster["part_of"] = json.loads(part_of)
                        cluster["containment"] = round(containment, 4)
                    yield cluster

    def repeated_ids(self, limit: int) -> tuple[list[str], int]:
        """Return the first ids that several texts have, as JSON, and the number of such ids."""
        repeated = "SELECT min(number) AS first, id FROM verdicts GROUP BY id HAVING count(*) > 1"
        with _disk_checked():
            execute = self._database.execute
            (total,) = execute(f"SELECT count(*) FROM ({repeated})").fetchone()  # noqa: S608
            found = execute(f"{repeated} ORDER BY first LIMIT ?", (limit,)).fetchall()
        return [name for _, name in found], total


def _duplicate(
    name: str,
    kind: str,
    tier: str | None,
    distance: int | None,
    similarity: float | None,
    containment: float | None,
) -> dict[str, Any]:
    found = {
        "id": json.loads(name),
        "verdict": kind,
        "tier": tier,
        "distance": distance,
        "similarity": None if similarity is None else round(similarity, 4),
    }
    return found if containment is None else {**found, "containment": round(containment, 4)}


@contextmanager
def _disk_checked() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise InputError(f"temporary files: {error}; TMPDIR may name a larger disk") from error


def find(options: Namespace) -> None:
    """Judge the texts of a file in its order, and write a line for each cluster.

    Texts and verdicts lie in a temporary folder while it works. What finds the texts takes up to
    300 bytes of memory a text, and where parts are shown or dropped 29 bytes more for 16 words.
    Where the input cannot be read on, the clusters of the texts before are written all the same: to
    standard output, or to ``OUT.partial``.
    """
    parameters = parameters_of(options)
    skipping = _Skipping(options.skip_bad)
    fields = [_id_names(options), (options.text_field,)]
    if options.title_field is not None:
        fields.append((options.title_field,))
    with (
        open_output(options.out, options.file) as output,
        open_rows(options.file, options.format, fields, skipping) as source,
        TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as folder,
        closing(Ledger(Path(folder) / "verdicts.sqlite")) as ledger,
    ):
        counts: Counter[str] = Counter()
        stopped = None
        with _opened(parameters, Path(folder) / "texts", with_parts=options.all) as deduplicator:
            try:
                for verdict in _judged(source, options, skipping, deduplicator, ledger):
                    counts[verdict] += 1
            except BadInputError as error:
                stopped = error
        if not counts:
            raise stopped or InputError(f"{source.name}: empty, no text in it")
        if stopped is None:
            _write(ledger, options, output, counts)
        else:
            with open_partial(options.out, output) as (partial, name):
                _write(ledger, options, partial, counts)
            raise InputError(f"{stopped}; what came before it is in {name}")


@contextmanager
def _opened(parameters: Parameters, folder: Path, *, with_parts: bool) -> Iterator[Deduplicator]:
    """Open a deduplicator over texts in a folder, which holds no passages where no part matters."""
    if with_parts or parameters.drop_contained:
        with Deduplicator(parameters, folder) as deduplicator:
            yield deduplicator
        return
    folder.mkdir()
    features, min_words = str(parameters.fingerprint_features), parameters.min_words
    texts = folder / "documents.sqlite"
    with (
        SqliteDocuments(texts, features=features, min_words=min_words) as documents,
        Deduplicator(parameters, documents=documents) as deduplicator,
    ):
        yield deduplicator


class _Skipping:
    """Names rows that cannot be read, and raises when there are more than may be."""

    def __init__(self, limit: int) -> None:
        self._limit = self._left = limit

    def __call__(self, error: InputError) -> None:
        if not self._left:
            hint = (
                "N passes over so many rows" if not self._limit else f"{self._limit} allows no more"
            )
            raise BadInputError(f"{error}; --skip-bad {hint}")
        self._left -= 1
        print(f"neardup: passed over: {error}", file=sys.stderr)


def _id_names(options: Namespace) -> tuple[str, ...]:
    return _ID_NAMES if options.id_field is None else (options.id_field,)


def _judged(
    source: RowSource,
    options: Namespace,
    skipping: _Skipping,
    deduplicator: Deduplicator,
    ledger: Ledger,
) -> Iterator[str]:
    """Yield the verdict on each text, or that it is empty."""
    id_field = None
    for number, row in enumerate(source.shown()):
        if id_field is None:
            row.require([options.text_field], "--text-field")
            id_field = row.require(_id_names(options), "--id-field")
            if options.title_field is not None:
                row.require([options.title_field], "--title-field")
        try:
            # A page without a text is a page: it is kept, as too short.
            name, text = row.id(id_field), row.text(options.text_field) or ""
            title = None if options.title_field is None else row.text(options.title_field)
        except InputError as error:
            skipping(error)
            continue
        verdict = deduplicator.judge(number, text, title=title)
        ledger.add(number, name, verdict)
        yield verdict.kind if text else _EMPTY


def _write(ledger: Ledger, options: Namespace, output: IO[bytes], counts: Counter[str]) -> None:
    clusters = 0
    for cluster in ledger.clusters(singles=options.all):
        output.write(json_line(cluster))
        clusters += bool(cluster["duplicates"])
    output.flush()
    print(_summary(counts, clusters), file=sys.stderr)
    names, total = ledger.repeated_ids(_MAX_NAMED)
    if total:
        named = ", ".join(names) + (", ..." if total > len(names) else "")
        print(f"neardup: ids of more than one text: {total:,}: {named}", file=sys.stderr)


def _summary(counts: Counter[str], clusters: int) -> str:
    duplicates = counts[TEXT_DUPLICATE] + counts[NEAR_DUPLICATE] + counts[CONTAINED]
    parts = f", {many(counts[CONTAINED], 'part')}" if counts[CONTAINED] else ""
    named = counts[SAME_TEMPLATE]
    others = f", {named:,} near another one of a different name" if named else ""
    return (
        f"{many(counts.total(), 'text')}: {counts.total() - duplicates:,} kept "
        f"({counts[TOO_SHORT]:,} of them too short to compare, {counts[_EMPTY]:,} empty{others}), "
        f"{many(duplicates, 'duplicate')} "
        f"({counts[TEXT_DUPLICATE]:,} equal, {counts[NEAR_DUPLICATE]:,} near{parts}) "
        f"in {many(clusters, 'cluster')}"
    )
