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
from neardup.batch.schemes import sketches_of
from neardup.document import Document, analyse
from neardup.fingerprints.minhash import unpacked_signature
from neardup.names import Name, name_of
from neardup.parameters import Parameters
from neardup.whole import part_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

POSITION_BITS = 41

_COLUMNS = (
    "id long, name string, source string, position long, title string, date string, words int, "
    "is_main boolean, digest binary, fingerprint long, sketch0 long, sketch1 long, "
    "signature binary, text string"
)
_ANALYSED = f"{_COLUMNS}, packed_name string"
"""The columns of an analysed page; ``packed_name`` is what it is called."""

READ = f"{_COLUMNS}, left_out string, count long"
"""The columns of a row: of a page, or of pages left out, with the reason and their count."""

_PARTS = "number long, path string, format string, start long, end long"
_KINDS = {
    "long": pa.int64(), "string": pa.string(), "int": pa.int32(), "short": pa.int16(),
    "double": pa.float64(), "boolean": pa.bool_(), "binary": pa.binary(),
}  # fmt: skip
_ROWS_AT_ONCE = 512
_CHARACTERS_AT_ONCE = 1 << 22
_MAX_TASKS = 50_000
"""The largest number of tasks in a stage: a driver with a few gigabytes keeps account of it."""

_NO_NAME = Name()


def schema_of(columns: str) -> Any:
    """Return the schema of Arrow for columns as Spark names them."""
    return pa.schema([(name, _KINDS[kind]) for name, kind in map(str.split, columns.split(", "))])


ROWS, _READ = schema_of(_ANALYSED), schema_of(READ)


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
                yield from _read(InputPart(**values), options, parameters)

    return run


def _read(part: InputPart, options: InputOptions, parameters: Parameters) -> Iterator[Any]:
    """Yield batches of the columns ``READ``: the pages of a part, then what was left out of it."""
    left_out: Counter[str] = Counter()
    # Only the texts that are compared need their names.
    for rows in batches_of(part, options, parameters, left_out, with_names=False):
        nothing = (pa.nulls(len(rows), _READ.field(name).type) for name in ("left_out", "count"))
        yield pa.RecordBatch.from_arrays([*rows.columns[:-1], *nothing], schema=_READ)
    told = [
        {"source": part.path, "left_out": reason, "count": count}
        for reason, count in left_out.items()
    ]
    if told:
        yield pa.RecordBatch.from_pylist(told, schema=_READ)


def batches_of(
    part: InputPart,
    options: InputOptions,
    parameters: Parameters,
    left_out: Counter[str],
    *,
    after: int = -1,
    with_names: bool = True,
) -> Iterator[Any]:
    """Yield the analysed pages of a part as batches of ``ROWS``, bounded in rows and in text.

    Args:
        part: The part.
        options: The choice of what is read.
        parameters: The parameters that decide which texts are the same.
        left_out: Takes the number of records that are no text to judge, by reason.
        after: Leave out the pages up to the one of this id.
        with_names: Whether ``packed_name`` is filled; else it is empty.
    """
    rows: list[tuple[Any, ...]] = []
    characters, first = 0, part.number << POSITION_BITS
    for page in read_part(part, options):
        if not isinstance(page, WebPage):
            left_out[page.reason] += 1
            continue
        if first + page.position <= after:
            continue
        rows.append(row_of(page, first, part.path, parameters, with_name=with_names))
        characters += len(page.text)
        if len(rows) == _ROWS_AT_ONCE or characters > _CHARACTERS_AT_ONCE:
            yield batch_of(rows)
            rows, characters = [], 0
    if rows:
        yield batch_of(rows)


def row_of(
    page: WebPage, first: int, path: str, parameters: Parameters, *, with_name: bool = True
) -> tuple[Any, ...]:
    """Return the row of a page, without its sketch, and with its fingerprint as a signed number."""
    name = name_of(part_of(page.text), page.title or "") if with_name else _NO_NAME
    document = _document(page, parameters, name)
    fingerprint = document.fingerprint
    return (
        first + page.position, page.name, path, page.position, page.title, page.date,
        document.words, page.is_main, document.digest,
        None if fingerprint is None else fingerprint - (fingerprint >> 63 << 64),
        document.signature, page.text, document.name,
    )  # fmt: skip


def batch_of(rows: list[tuple[Any, ...]]) -> Any:
    """Return rows that ``row_of`` made as a batch of ``ROWS``."""
    *before, signatures, texts, names = zip(*rows, strict=True)
    sketches = _sketches(before[-1], signatures)
    columns = (*before, *sketches, signatures, texts, names)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, ROWS.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ROWS)


def _sketches(fingerprints: tuple[int | None, ...], signatures: tuple[bytes | None, ...]) -> Any:
    """Return the two words of the sketch of each text that has a fingerprint."""
    have = np.array(
        [f is not None and s is not None for f, s in zip(fingerprints, signatures, strict=True)]
    )
    words = np.zeros((len(have), 2), np.int64)
    present = [signature for signature, has in zip(signatures, have, strict=True) if has]
    if present:
        values = unpacked_signature(b"".join(filter(None, present))).reshape(len(present), -1)
        words[have] = sketches_of(values).view(np.int64)
    return (pa.array(words[:, 0], mask=~have), pa.array(words[:, 1], mask=~have))


def _document(page: WebPage, parameters: Parameters, name: Name) -> Document:
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
