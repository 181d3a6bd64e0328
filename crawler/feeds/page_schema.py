"""Say which types the fields of a page have in Arrow and parquet."""

from __future__ import annotations

from typing import Any

from crawler.items import PAGE_FIELDS


def column_kinds() -> dict[str, Any]:
    """Return the type of each field of a page, or of a link, that is no text.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """
    import pyarrow as pa  # noqa: PLC0415  # an extra

    return {
        "status": pa.int32(),
        "depth": pa.int32(),
        "words": pa.int32(),
        "distance": pa.int32(),
        "similarity": pa.float64(),
        "containment": pa.float64(),
        "tags": pa.list_(pa.string()),
        "categories": pa.list_(pa.string()),
        "identifiers": pa.list_(pa.string()),
        "alternates": pa.list_(pa.struct({"hreflang": pa.string(), "url": pa.string()})),
        "follow": pa.bool_(),
        "sources": pa.map_(pa.string(), pa.string()),
    }


def page_schema() -> Any:
    """Return the schema of pages: the fields of ``crawler.items.Page``, in their order.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """
    import pyarrow as pa  # noqa: PLC0415

    kinds = column_kinds()
    return pa.schema([(name, kinds.get(name, pa.string())) for name in PAGE_FIELDS])
