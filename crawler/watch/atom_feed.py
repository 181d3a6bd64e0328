"""Write changes as an Atom feed (RFC 4287)."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree import ElementTree as ET

from neardup.files.durable import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.watch.watch_store import Change

MAX_ENTRIES = 100
"""A feed has the newest entries, at most so many."""

_NAMESPACE = "http://www.w3.org/2005/Atom"
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SAFE = "!#$%&'()*+,/:;=?@[]~"

ET.register_namespace("", _NAMESPACE)


def write_feed(path: Path, changes: Sequence[Change], now: float) -> None:
    """Replace a feed as a whole.

    Args:
        path: The file.
        changes: The changes, the newest first; the first ``MAX_ENTRIES`` become entries.
        now: Seconds since 1970, the date of a feed without entries.

    Raises:
        OSError: It cannot be written.
    """
    feed = make_feed(path.resolve().as_uri(), changes[:MAX_ENTRIES], now)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(feed)


def make_feed(place: str, changes: Sequence[Change], now: float) -> bytes:
    """Return a feed as XML in UTF-8.

    Args:
        place: What tells the feed from others for good, such as the URI of its file.
        changes: The changes, the newest first.
        now: Seconds since 1970.
    """
    feed = ET.Element(f"{{{_NAMESPACE}}}feed")
    updated = changes[0].when if changes else datetime.fromtimestamp(now, UTC).isoformat()
    _add(feed, "id", uuid.uuid5(uuid.NAMESPACE_URL, place).urn)
    _add(feed, "title", "Changed pages")
    _add(feed, "updated", updated)
    _add(_add(feed, "author"), "name", "crawl-once watch")
    _add(feed, "generator", "crawl-once")
    for change in changes:
        _add_entry(feed, change)
    ET.indent(feed)
    written: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return written


def _add_entry(feed: ET.Element, change: Change) -> None:
    entry = _add(feed, "entry")
    _add(entry, "id", change.id)
    _add(entry, "title", f"{change.title or change.url}: {change.kind}")
    _add(entry, "updated", change.when)
    _add(entry, "link", rel="alternate", href=quote(change.url, safe=_SAFE))
    _add(entry, "category", term=change.kind)
    _add(entry, "summary", change.summary, type="text")
    _add(entry, "content", _html(change), type="html")


def _html(change: Change) -> str:
    parts = [f"<p>{escape(change.summary)}</p>"]
    parts += [f"<p><del>{escape(passage)}</del></p>" for passage in change.removed]
    parts += [f"<p><ins>{escape(passage)}</ins></p>" for passage in change.added]
    return "".join(parts)


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    """Add an element; characters that XML does not have are left out."""
    clean = {key: _NO_XML.sub("", value) for key, value in attributes.items()}
    element = ET.SubElement(parent, f"{{{_NAMESPACE}}}{name}", clean)
    element.text = _NO_XML.sub("", text) or None
    return element
