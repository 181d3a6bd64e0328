"""Pack the metadata of a page that has no column of its own, and flatten it for exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawler.reading.metadata.metadata_record import Metadata

METADATA_FIELDS = (
    "full_title",
    "h1",
    "published",
    "modified",
    "sitename",
    "description",
    "image",
    "tags",
    "categories",
    "alternates",
    "identifiers",
    "schema_type",
    "declared_type",
    "sources",
)
"""Names of the exported fields that the column ``metadata`` gives."""

_LINKED_FROM = "linked_from"

_STORED = tuple(name for name in METADATA_FIELDS if name != "published")


def packed_metadata(metadata: Metadata) -> str | None:
    """Return the JSON object of the column ``metadata``, or None where nothing is known.

    It has ``full_title`` only where that is not the title.
    """
    full_title = metadata.full_title if metadata.full_title != metadata.title else None
    known = {
        "full_title": full_title,
        "h1": metadata.heading,
        "modified": metadata.modified,
        "sitename": metadata.sitename,
        "description": metadata.description,
        "image": metadata.image,
        "tags": metadata.tags,
        "categories": metadata.categories,
        "alternates": [{"hreflang": name, "url": url} for name, url in metadata.alternates],
        "identifiers": [one for one in metadata.identifiers if not one.startswith("canonical:")],
        "schema_type": metadata.schema_type,
        "declared_type": metadata.declared_type,
        "sources": dict(metadata.sources),
    }
    kept = {name: value for name, value in known.items() if value}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) if kept else None


def packed_source(url: str | None) -> str | None:
    """Return the column ``metadata`` of a URL that gave no page: the page that led to it."""
    return None if url is None else json.dumps({_LINKED_FROM: url}, ensure_ascii=False)


def linked_from(packed: str | None) -> str | None:
    """Return the URL of the page that led to one that gave no page, or None if it is not known."""
    found: str | None = json.loads(packed).get(_LINKED_FROM) if packed else None
    return found


def alternates_of(packed: str | None) -> list[tuple[str, str]]:
    """Return hreflang and URL of the translations of a page.

    Args:
        packed: The column ``metadata``.

    Complexity: a search for a word where the page names none.
    """
    if packed is None or '"alternates":' not in packed:
        return []
    return [(one["hreflang"], one["url"]) for one in json.loads(packed).get("alternates", ())]


def metadata_fields(packed: str | None, title: str | None, date: str | None) -> dict[str, Any]:
    """Return the fields to export, by the names of ``METADATA_FIELDS``; None: not known.

    Args:
        packed: The column ``metadata``.
        title: The title without the name of the site.
        date: The day of publication, or that of the last change where only that is known.
    """
    stored = json.loads(packed) if packed else {}
    fields: dict[str, Any] = dict.fromkeys(METADATA_FIELDS)
    fields.update((name, stored[name]) for name in _STORED if name in stored)
    fields["full_title"] = fields["full_title"] or title
    sources = fields["sources"] or {}
    is_change = "date" in sources and sources["date"] == sources.get("modified")
    fields["published"] = None if is_change else date
    return fields
