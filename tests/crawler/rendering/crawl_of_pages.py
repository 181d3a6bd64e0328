"""Crawl by a spider that renders each page, as a process of its own.

Usage: python -m tests.crawler.rendering.crawl_of_pages SEED PAGES.json OUT.jsonl [NAME=VALUE ...]

PAGES.json holds pairs of URL and HTML, which are rendered in place of the answer of the seed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

from crawler.rendering.rendered_pages import PageToRender
from crawler.spiders.page_rendering import renderer_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response


class RenderingSpider(Spider):
    name = "rendering"
    seeds: tuple[str, ...] = ()
    pages: tuple[tuple[str, str], ...] = ()
    out = Path()

    async def start(self) -> AsyncIterator[Request]:
        for seed in self.seeds:
            yield Request(seed)

    async def parse(self, response: Response) -> None:
        renderer = renderer_of(self.crawler)
        html = (("Content-Type", "text/html; charset=utf-8"),)
        given = self.pages or ((response.url, response.text),)
        pages = [PageToRender(url, text.encode(), 200, html) for url, text in given]
        rendered = await asyncio.gather(*map(renderer.render, pages))
        with self.out.open("a") as file:
            for page in rendered:
                answers = [[one.url, one.status] for one in page.subrequests]
                about: dict[str, Any] = {"url": page.url, "html": page.body.decode()}
                about |= {"failed": page.failed, "missed": page.missed, "answers": answers}
                print(json.dumps(about), file=file, flush=True)


def main() -> None:
    seed, pages, out, *chosen = sys.argv[1:]
    settings = get_project_settings()
    for pair in chosen:
        name, _, value = pair.partition("=")
        settings.set(name, value, priority="cmdline")
    process = CrawlerProcess(settings)
    given = tuple((url, text) for url, text in json.loads(Path(pages).read_text()))
    process.crawl(RenderingSpider, seeds=(seed,), pages=given, out=Path(out))
    process.start()


if __name__ == "__main__":
    main()
