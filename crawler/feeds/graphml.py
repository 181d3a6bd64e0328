"""Write links as GraphML, which Gephi, NetworkX, igraph and yEd read.

http://graphml.graphdrawing.org/specification.html describes the format.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, Any

import xxhash
from lxml import etree
from scrapy.exporters import BaseItemExporter

from crawler.reading.content.content_xml import NOT_IN_XML

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_ATTRIBUTES = (
    ("url", "node", "string"),
    ("kind", "edge", "string"),
    ("text", "edge", "string"),
    ("follow", "edge", "boolean"),
)


class GraphmlExporter(BaseItemExporter):
    """Writes links, as ``crawler.pages.link_graph.PageLink`` has them, as a directed graph.

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
            said = {"id": name, "for": place, "attr.name": name, "attr.type": kind}
            self._xml.write(etree.Element("key", said), "\n")
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
