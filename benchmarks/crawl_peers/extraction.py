"""The pipeline of the second peer; apart, since the first has no need to import trafilatura."""

from __future__ import annotations

from typing import Any

import trafilatura


class Extraction:
    """Main text by trafilatura, as its documentation and most answers on the web have it."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Replace the markup of an item by its main text."""
        return {"url": item["url"], "text": trafilatura.extract(item["html"])}
