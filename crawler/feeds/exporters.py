"""Write rows to files through Scrapy's exporters; to parquet where pyarrow is installed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scrapy.exporters import (
    BaseItemExporter,
    CsvItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    XmlItemExporter,
)

from crawler.console.command_line import CommandError
from crawler.console.escaping import plain_stdout
from crawler.feeds.graphml import GraphmlExporter
from crawler.feeds.page_schema import column_kinds
from crawler.items import PAGE_FIELDS
from crawler.reading.content.content_xml import NOT_IN_XML
from neardup.files.durable import replacing
from neardup.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


PARQUET_BATCH = 1_000
"""Rows of a parquet row group: bounded memory, whatever the crawl."""


def require_pyarrow() -> None:
    """Refuse early to write parquet without pyarrow.

    Raises:
        CommandError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415
    except ImportError:
        raise CommandError(f"parquet needs pyarrow: {install_command('parquet')}") from None


class ParquetItemExporter(BaseItemExporter):
    """Writes items of ``crawler.items.Page``, or their rows, as parquet, in row groups."""

    def __init__(self, file: IO[bytes], **kwargs: Any) -> None:
        require_pyarrow()
        super().__init__(**kwargs)
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        self._pa, self._file = pa, file
        self._kinds = column_kinds()
        self._open = pq.ParquetWriter
        self._writer: Any = None
        self._rows: list[dict[str, Any]] = []

    def export_item(self, item: Any) -> None:
        self._rows.append(dict(self.get_serialized_fields(item, include_empty=True)))
        if len(self._rows) >= PARQUET_BATCH:
            self._write()

    def finish_exporting(self) -> None:
        self._write()
        self._writer.close()

    def abandon(self) -> None:
        """Write nothing more, since the file is not wanted."""
        if self._writer is not None:
            # Else it would write the end of the file when it is deleted, after that was closed.
            self._writer.is_open = False

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        if self._writer is None:
            self._writer = self._open(self._file, self._schema(rows))
        if rows:
            schema = self._writer.schema
            self._writer.write_table(self._pa.Table.from_pylist(rows, schema=schema))

    def _schema(self, rows: list[dict[str, Any]]) -> Any:
        """Return the columns: those that are asked for, else the fields of pages, as they come."""
        fields = self.fields_to_export or PAGE_FIELDS
        if not self.fields_to_export and rows and rows[0].keys() > set(PAGE_FIELDS):
            fields = list(rows[0])  # pages with a field more, such as Markdown
        # A mapping gives columns other names.
        named = fields if isinstance(fields, Mapping) else dict(zip(fields, fields, strict=True))
        kinds = self._kinds
        return self._pa.schema(
            [(column, kinds.get(name, self._pa.string())) for name, column in named.items()]
        )


class PlainCsvExporter(CsvItemExporter):
    """Writes lists and mappings as JSON: their values have commas of their own."""

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        if isinstance(value, dict | list):
            value = json.dumps(value, ensure_ascii=False)
        return super().serialize_field(field, name, value)


class CleanXmlExporter(XmlItemExporter):
    """Leaves out the characters that XML 1.0 cannot hold, such as an escape."""

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        return _for_xml(super().serialize_field(field, name, value))


def _for_xml(value: Any) -> Any:
    if isinstance(value, str):
        return NOT_IN_XML.sub("", value)
    if isinstance(value, dict):
        return {_for_xml(name): _for_xml(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_for_xml(inner) for inner in value]
    return value


EXPORTERS: dict[str, Callable[..., BaseItemExporter]] = {
    "jsonl": JsonLinesItemExporter,
    "jl": JsonLinesItemExporter,
    "json": JsonItemExporter,
    "csv": PlainCsvExporter,
    "xml": CleanXmlExporter,
    "parquet": ParquetItemExporter,
}
"""Exporters of pages and items, by format."""

LINK_EXPORTERS = EXPORTERS | {"graphml": GraphmlExporter}
"""Exporters of links, by format."""


def export(
    rows: Iterable[dict[str, Any]], name: str, kind: str, fields: Sequence[str] = PAGE_FIELDS
) -> int:
    """Write rows to a file, or to standard output for ``-``; return how many.

    A file appears under its name only when it is complete.
    """
    count = 0
    with whole_file(name, kind) as file:
        exporter = LINK_EXPORTERS[kind](
            file,
            fields_to_export=list(fields),
            encoding="utf-8",
            export_empty_fields=kind != "xml",
        )
        try:
            exporter.start_exporting()
            for row in rows:
                exporter.export_item(_without_nothing(row) if kind == "xml" else row)
                count += 1
            exporter.finish_exporting()
        except BaseException:
            if isinstance(exporter, ParquetItemExporter):
                exporter.abandon()
            raise
    return count


@contextmanager
def whole_file(name: str | Path, kind: str = "") -> Iterator[IO[bytes]]:
    """Open a file that appears under its name when it is complete; ``-`` is standard output.

    Raises:
        CommandError: It cannot be made.
    """
    if name == "-":
        file = plain_stdout(kind)
        yield file
        file.flush()
        return
    path = Path(name)
    with ExitStack() as stack:
        try:
            file = stack.enter_context(replacing(path))
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        yield file


def _without_nothing(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
