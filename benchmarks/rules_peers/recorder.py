"""A Scrapy extension that keeps every HTML answer, to be looked at when the crawl is over."""

from __future__ import annotations

import marshal
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals
from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.spiders import Spider

FOLDER_VARIABLE = "RULES_RECORDER_FOLDER"
_ANSWERS, _REASON = "answers", "reason"


class Answer(NamedTuple):
    """A page as it came.

    Attributes:
        redirected: The URLs from which it was reached, from the first one on.
    """

    url: str
    content_type: str
    body: bytes
    redirected: Sequence[str] = ()


class Recorder:
    """Appends each answer 200 of type HTML to a file, which costs next to nothing.

    Files: ``answers``, one marshalled tuple after the other, and ``reason``, why the crawl ended,
    in the folder that ``RULES_RECORDER_FOLDER`` names.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._answers = (folder / _ANSWERS).open("wb")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen to the engine."""
        name = os.environ.get(FOLDER_VARIABLE)
        if not name:
            raise NotConfigured(f"{FOLDER_VARIABLE} is not set")
        recorder = cls(Path(name))
        crawler.signals.connect(recorder._response_received, signals.response_received)
        crawler.signals.connect(recorder._spider_closed, signals.spider_closed)
        return recorder

    def _response_received(self, response: Response) -> None:
        content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        if response.status == 200 and content_type.startswith(("text/html", "application/xhtml")):
            redirected = tuple(response.meta.get("redirect_urls", ()))
            kept = (response.url, content_type, response.body, redirected)
            marshal.dump(kept, self._answers)

    def _spider_closed(self, spider: Spider, reason: str) -> None:
        self._answers.close()
        (self._folder / _REASON).write_text(reason)


def answers(folder: Path) -> Iterator[Answer]:
    """Every answer of a crawl that is over, in order."""
    with (folder / _ANSWERS).open("rb") as file:
        while True:
            try:
                yield Answer(*marshal.load(file))
            except EOFError:
                return


def reason(folder: Path) -> str:
    """Why the crawl ended, empty where it did not say so."""
    file = folder / _REASON
    return file.read_text() if file.exists() else ""
