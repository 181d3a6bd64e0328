"""Write rows to files through Scrapy's exporters; to parquet where pyarrow is installed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import fields
from typing import IO, TYPE_CHECKING, Any

import xxhash
from lxml import etree
from scrapy.exporters import (
    BaseItemExporter,
    CsvItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    XmlItemExporter,
)

from crawler.pages.items import PAGE_FIELDS, Page
from crawler.reading.content.content_xml import NOT_IN_XML
from crawler.storage.output_files import require_pyarrow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


def column_kinds() -> dict[str, Any]:
    """Return the type of each field of a page, or of a link, that is no text.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """
    import pyarrow as pa  # noqa: PLC0415  # an extra

    kinds = {
        "int": pa.int32(),
        "float": pa.float64(),
        "list[str]": pa.list_(pa.string()),
        "list[dict[str, str]]": pa.list_(pa.struct({"hreflang": pa.string(), "url": pa.string()})),
        "dict[str, str]": pa.map_(pa.string(), pa.string()),
    }
    written = {field.name: str(field.type).removesuffix(" | None") for field in fields(Page)}
    found = {name: kinds[kind] for name, kind in written.items() if kind in kinds}
    return {**found, "follow": pa.bool_()}


def page_schema() -> Any:
    """Return the schema of pages: the fields of ``crawler.pages.items.Page``, in their order.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """
    import pyarrow as pa  # noqa: PLC0415

    kinds = column_kinds()
    return pa.schema([(name, kinds.get(name, pa.string())) for name in PAGE_FIELDS])


PARQUET_BATCH = 1_000
"""Rows of a parquet row group: bounded memory, whatever the crawl."""


class ParquetItemExporter(BaseItemExporter):
    """Writes items of ``crawler.pages.items.Page``, or their rows, as parquet, in row groups."""

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


def export(
    rows: Iterable[dict[str, Any]], file: IO[bytes], kind: str, fields: Collection[str]
) -> int:
    """Write fields of rows to a file in one of ``LINK_FORMATS``; return how many rows."""
    count = 0
    exporter = _EXPORTERS[kind](
        file, fields_to_export=list(fields), encoding="utf-8", export_empty_fields=kind != "xml"
    )
    try:
        exporter.start_exporting()
        for count, row in enumerate(rows, 1):  # noqa: B007
            exporter.export_item(_without_nothing(row) if kind == "xml" else row)
        exporter.finish_exporting()
    except BaseException:
        if isinstance(exporter, ParquetItemExporter):
            exporter.abandon()
        raise
    return count


def _without_nothing(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_ATTRIBUTES = (
    ("url", "node", "string"),
    ("kind", "edge", "string"),
    ("text", "edge", "string"),
    ("follow", "edge", "boolean"),
)


class GraphmlExporter(BaseItemExporter):
    """Writes links, as ``crawler.pages.page_links.PageLink`` has them, as a directed graph.

    A URL is written as a node in front of the first link that names it, so that memory holds a
    digest of each URL and nothing else: some 130 bytes.

    Args:
        file: The file to write to, in binary mode.
    """

    def __init__(self, file: IO[bytes], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._file = file
        self._parts = ExitStack()
        self._nodes: dict[bytes, str] = {}

    def start_exporting(self) -> None:
        self._xml = self._parts.enter_context(etree.xmlfile(self._file, encoding="utf-8"))
        self._xml.write_declaration()
        self._parts.enter_context(self._xml.element("graphml", nsmap={None: _NAMESPACE}))
        for name, place, kind in _ATTRIBUTES:
            attributes = {"id": name, "for": place, "attr.name": name, "attr.type": kind}
            self._xml.write(etree.Element("key", attributes), "\n")
        self._parts.enter_context(self._xml.element("graph", edgedefault="directed"))

    def export_item(self, item: Any) -> None:
        edge = etree.Element(
            "edge", source=self._node(item["source"]), target=self._node(item["target"])
        )
        _add(edge, "kind", item["kind"])
        if item["text"]:
            _add(edge, "text", item["text"])
        _add(edge, "follow", "true" if item["follow"] else "false")
        self._xml.write("\n", edge)

    def finish_exporting(self) -> None:
        self._parts.close()

    def _node(self, url: str) -> str:
        """Return the id of the node of a URL, which is written if it is met first."""
        digest = xxhash.xxh3_128_digest(url.encode("utf-8", "surrogatepass"))
        if (known := self._nodes.get(digest)) is not None:
            return known
        self._nodes[digest] = name = f"n{len(self._nodes)}"
        node = etree.Element("node", id=name)
        _add(node, "url", url)
        self._xml.write("\n", node)
        return name


def _add(element: Any, key: str, text: str) -> None:
    etree.SubElement(element, "data", key=key).text = NOT_IN_XML.sub("", text)


_EXPORTERS: dict[str, Callable[..., BaseItemExporter]] = {
    "jsonl": JsonLinesItemExporter,
    "jl": JsonLinesItemExporter,
    "json": JsonItemExporter,
    "csv": PlainCsvExporter,
    "xml": CleanXmlExporter,
    "parquet": ParquetItemExporter,
    "graphml": GraphmlExporter,
}
"""The exporters of ``LINK_FORMATS``."""
