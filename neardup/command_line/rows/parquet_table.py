"""Rows from parquet; pyarrow is needed for that alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neardup.command_line.errors import BadInputError, InputError
from neardup.command_line.rows.row import Row, Source, either, listed

_ROWS_AT_ONCE = 64
# Otherwise all of a column that is in one group of rows is read at once, and a file is often one.
_BUFFER_BYTES = 1 << 20


@contextmanager
def open_parquet(path: str, fields: Sequence[Sequence[str]]) -> Iterator[Source]:
    """Open a parquet file; of its columns, only those named are read.

    Args:
        path: The file.
        fields: For each field wanted the names that it may have, the first that is there counts.

    Raises:
        InputError: pyarrow is missing, the file is no parquet, or a column is missing.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415  (optional)
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise InputError("parquet needs pyarrow: pip install pyarrow") from None
    with Path(path).open("rb") as file:
        try:
            table = pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
            names = table.schema_arrow.names
            chosen = [_chosen(path, wanted, names) for wanted in fields]
            progress = _Progress()
            rows = _rows(path, table, chosen, progress)
            yield Source(path, rows, lambda: progress.rows, table.metadata.num_rows)
        except pa.ArrowException as error:
            raise InputError(f"{path}: no parquet: {error}") from error


def _chosen(path: str, wanted: Sequence[str], names: Sequence[str]) -> str:
    for name in wanted:
        if name in names:
            return name
    raise InputError(f"{path}: no column {either(wanted)}; there are {listed(names)}")


class _Progress:
    rows = 0


def _rows(path: str, table: Any, fields: Sequence[str], progress: _Progress) -> Iterator[Row]:
    import pyarrow as pa  # noqa: PLC0415  (optional)

    columns = list(dict.fromkeys(fields))
    try:
        for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE, columns=columns):
            for values in batch.to_pylist():
                progress.rows += 1
                yield Row(path, "row", progress.rows, values)
    except pa.ArrowException as error:
        where = f"{path}, after row {progress.rows}"
        raise BadInputError(f"{where}: damaged parquet: {error}") from error
