"""Parts of files become rows: each text with what verdicts rest on."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.batch.input_files import InputOptions, InputPart
from neardup.batch.parsing import WebPage, read_part
from neardup.batch.sketches import WORDS, sketches_of
from neardup.document import Document, analyse
from neardup.fingerprints.minhash import unpacked_signature
from neardup.names import Name
from neardup.parameters import Parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

POSITION_BITS = 41

READ = (
    "id long, name string, source string, position long, title string, date string, words int, "
    "is_main boolean, digest binary, fingerprint long, sketch0 long, sketch1 long, "
    "signature binary, text string, left_out string, count long"
)
"""The columns of a row: of a page, or of pages left out, with the reason and their count."""

_PARTS = "number long, path string, format string, start long, end long"
_NAMES = tuple(column.split()[0] for column in READ.split(", "))
_ROWS_AT_ONCE = 512
_CHARACTERS_AT_ONCE = 1 << 23
_MAX_TASKS = 50_000
"""The largest number of tasks in a stage: a driver with a few gigabytes keeps account of it."""

_NO_NAME = Name()
"""A row has none: only the texts that are compared need theirs."""

Row = dict[str, Any]


def analysed(
    spark: "SparkSession", parts: list[InputPart], options: InputOptions, parameters: Parameters
) -> "DataFrame":
    """Read parts of files, each in a task, and compute what verdicts on their texts rest on."""
    rows = [(p.number, p.path, p.format, p.start, p.end) for p in parts]
    tasks = spark.sparkContext.parallelize(rows, min(len(rows), _MAX_TASKS))
    return spark.createDataFrame(tasks, _PARTS).mapInArrow(_analysed(options, parameters), READ)


def _analysed(
    options: InputOptions, parameters: Parameters
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for values in batch.to_pylist():
                yield from _batches(_rows(InputPart(**values), options, parameters))

    return run


def _batches(rows: Iterator[Row]) -> Iterator[Any]:
    """Yield rows as batches of Arrow, bounded in rows and in text."""
    collected: list[Row] = []
    characters = 0
    for row in rows:
        collected.append(row)
        characters += len(row["text"] or "")
        if len(collected) == _ROWS_AT_ONCE or characters > _CHARACTERS_AT_ONCE:
            yield _batch(collected)
            collected, characters = [], 0
    if collected:
        yield _batch(collected)


def _batch(rows: list[Row]) -> Any:
    kinds = {
        "long": pa.int64(), "string": pa.string(), "int": pa.int32(),
        "boolean": pa.bool_(), "binary": pa.binary(),
    }  # fmt: skip
    schema = pa.schema([(name, kinds[kind]) for name, kind in map(str.split, READ.split(", "))])
    _add_sketches(rows)
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def _add_sketches(rows: list[Row]) -> None:
    joined = [row for row in rows if None not in (row["fingerprint"], row["signature"])]
    if joined:
        signatures = np.stack([unpacked_signature(row["signature"]) for row in joined])
        for row, words in zip(joined, sketches_of(signatures).view(np.int64).tolist(), strict=True):
            row.update(zip(WORDS, words, strict=True))


def _rows(part: InputPart, options: InputOptions, parameters: Parameters) -> Iterator[Row]:
    left_out: Counter[str] = Counter()
    nothing = dict.fromkeys(_NAMES)
    for found in read_part(part, options):
        if isinstance(found, WebPage):
            number = part.number << POSITION_BITS | found.position
            yield {**nothing, "id": number, "source": part.path, **row_of(found, parameters)}
        else:
            left_out[found.reason] += 1
    for reason, count in left_out.items():
        yield {**nothing, "source": part.path, "left_out": reason, "count": count}


def row_of(page: WebPage, parameters: Parameters) -> Row:
    """Return the row of a page, without its sketch, and with its fingerprint as a signed number."""
    document = document_of(page, parameters, _NO_NAME)
    fingerprint = document.fingerprint
    return {
        "name": page.name, "position": page.position, "title": page.title, "date": page.date,
        "words": document.words, "is_main": page.is_main, "digest": document.digest,
        "fingerprint": None if fingerprint is None else signed_number(fingerprint),
        "signature": document.signature, "text": page.text,
    }  # fmt: skip


def document_of(page: WebPage, parameters: Parameters, name: Name | None = None) -> Document:
    """Return what a page is judged by.

    A text that a fingerprint cannot stand for, or of too few words for one, repeats only what
    shows the same: as online, its digest is then that of all that its page shows. Its signature is
    that of its words all the same.
    """
    document = analyse(page.text, _of_any_length(parameters), name, with_sample=False)
    if page.is_main and document.words >= parameters.min_words:
        return document
    return replace(document, digest=page.visible_digest or document.digest, fingerprint=None)


@lru_cache(maxsize=1)
def _of_any_length(parameters: Parameters) -> Parameters:
    return replace(parameters, min_words=1)


def signed_number(fingerprint: int) -> int:
    """Return the signed number of the same 64 bits."""
    return fingerprint - (fingerprint >> 63 << 64)
