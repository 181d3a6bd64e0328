"""What one writes with Scrapy alone: follow the links, and perhaps extract each page's text.

Run by ``scrapy runspider``; ``-a text=yes`` makes an item of every page, for a pipeline.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


class PlainSpider(CrawlSpider):
    """Every page below a URL, by the book."""

    name = "plain"

    def __init__(self, url: str, text: str = "no", **kwargs: Any) -> None:
        self.start_urls = [url]
        self._wants_text = text == "yes"
        callback = "parse_page" if self._wants_text else None
        extractor = LinkExtractor(allow="^" + re.escape(url))
        self.rules = (Rule(extractor, callback=callback, follow=True),)
        super().__init__(**kwargs)

    def parse_start_url(self, response: Response, **_: Any) -> Any:
        """The first page is a page like the others."""
        return self.parse_page(response) if self._wants_text else ()

    def parse_page(self, response: Response) -> Iterator[dict[str, Any]]:
        """Hand the markup over to the pipeline."""
        if isinstance(response, HtmlResponse):
            yield {"url": response.url, "html": response.text}
