"""Outputs of ``neardup.spark`` as tests need them, written without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.batch.analysing import batch_of, row_of
from neardup.batch.output_tables import About
from neardup.batch.parsing import WebPage
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

KINDS = {
    "id": pa.int64(), "name": pa.string(), "title": pa.string(), "date": pa.string(),
    "words": pa.int32(), "is_main": pa.bool_(), "digest": pa.binary(), "fingerprint": pa.int64(),
    "text": pa.string(),
}  # fmt: skip


def write_output(folder: Path, texts: Mapping[str, str], run: str = "one", **about: Any) -> None:
    """Write texts, none of which resembles another, as what a run kept.

    Args:
        folder: Where to.
        texts: By name.
        run: The name of the run.
        about: Further fields of ``About``.
    """
    pages = [
        WebPage(number, name, text, title="A title", date="2026-05-01T12:00:00Z")
        for number, (name, text) in enumerate(texts.items())
    ]
    write_pages(folder, pages, run, **about)


def write_pages(
    folder: Path,
    pages: Iterable[WebPage],
    run: str = "one",
    **about: Any,
) -> None:
    """Write pages as ``write_output`` does; their positions are their ids.

    Args:
        folder: Where to.
        pages: The pages.
        run: The name of the run.
        about: Further fields of ``About``.
    """
    rows = []
    for page in pages:
        (row,) = batch_of([row_of(page, 0, "x", DEFAULTS)]).to_pylist()
        rows.append({column: row[column] for column in KINDS})
    (folder / "kept").mkdir(parents=True)
    (folder / "about").mkdir()
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(KINDS)), folder / "kept" / "part.parquet")
    fields: dict[str, Any] = {"against": (), "runs": (), **about}
    said = About(
        run=run, input="x", parameters=DEFAULTS, first_file=0, end_file=1, counts={}, **fields
    )
    pq.write_table(pa.table({"about": [said.to_json()]}), folder / "about" / "part.parquet")
