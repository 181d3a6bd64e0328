"""Crawl directories made of texts, without pages to read them from."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.job import Job
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.rejudge.rejudging import Rejudgement, rejudge
from crawler.pages.stored_texts import unpack
from crawler.reading.content.content_xml import (
    PackedContent,
    pack_content,
    pack_lines,
    unpack_content,
)
from crawler.reading.reading import Extract, Reading, extract_of
from crawler.storage.database import open_for_reading
from neardup import Parameters
from neardup.fingerprints.digest import text_digest
from neardup.whole import with_whole
from tests.crawler.pages.test_capture import OPTIONS, fetched
from tests.no_watch import NoWatch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.maintenance.verify.finding import CheckWatch

PLAN = "site -a url=http://example.com/"


@dataclass(frozen=True)
class Said:
    """What a page says: its text, what stands around it, and what of that stands outside links.

    The type of the page is that of its content; empty: it follows from the text.
    """

    text: str
    around: str = ""
    is_main: bool = True
    whole: str = ""
    page_type: str = ""

    @property
    def body(self) -> bytes:
        """Bytes that are equal only where all that is read from them is."""
        return f"{self.text}|{self.around}|{self.whole}|{self.is_main}".encode()

    @property
    def extract(self) -> Extract:
        shown = text_digest(f"{self.text} {self.around} {self.whole}")
        text = with_whole(self.text, self.whole)
        packed = zstandard.compress(text.encode())
        extract = extract_of(text, packed, self.is_main, shown, Parameters())
        return replace(extract, content=content_of(self.text, self.page_type))


def content_of(text: str, page_type: str = "") -> PackedContent:
    """The content of a page with a text, marked as its own: the same words, and no copy of them."""
    body = unpack_content(pack_lines(text))
    body.set("of", text_digest(text).hex())
    page_type = page_type or ("article" if len(text) % 2 else "forum")
    return PackedContent(pack_content(body), page_type, f"said {page_type}")


class Row(NamedTuple):
    """What the store says of a page."""

    url: str
    verdict: str
    original: str | None
    distance: int | None
    similarity: float | None
    text: str | None
    near: str | None
    parameters: int | None


def capture(
    folder: Path,
    pages: Sequence[tuple[str, Said]],
    parameters: Parameters,
    *,
    keep_near_texts: bool = True,
    plan: str | None = PLAN,
) -> None:
    """One visit in which these paths say this, one after the other."""
    options = replace(OPTIONS, parameters=parameters, keep_near_texts=keep_near_texts)
    with closing(Job(folder, options)) as job:
        if plan is not None:
            job.claim(plan)
        job.begin_visit()
        for path, said in pages:
            answer = fetched(job, path, said.body)
            extract = said.extract
            reading = Reading(answer.url, visible_digest=extract.visible_digest, extract=extract)
            asyncio.run(job.processor.capture_read(answer, reading))


def judge_again(
    folder: Path, *, dry_run: bool = False, watch: CheckWatch | None = None
) -> Rejudgement:
    with closing(CrawlDirectory(folder)) as directory:
        return rejudge(directory, watch or NoWatch(), dry_run=dry_run)


def rows(folder: Path) -> list[Row]:
    """The newest captures, in order."""
    sql = """
    SELECT pages.url, pages.verdict, kept.url, pages.distance, pages.similarity, pages.text,
           near_texts.text, pages.parameters
    FROM pages LEFT JOIN pages AS kept ON kept.id = pages.duplicate_of
    LEFT JOIN near_texts ON near_texts.page = pages.id
    WHERE pages.latest = 1 ORDER BY pages.id
    """
    with closing(open_for_reading(folder)) as connection:
        found = [Row(*row) for row in connection.execute(sql)]
    return [
        row._replace(
            text=None if row.text is None else unpack(row.text),  # type: ignore[arg-type]
            near=None if row.near is None else unpack(row.near),  # type: ignore[arg-type]
        )
        for row in found
    ]


def dump(folder: Path) -> list[tuple[object, ...]]:
    """All that a verdict says, and all texts."""
    with closing(open_for_reading(folder)) as connection:
        pages = connection.execute("SELECT * FROM pages ORDER BY id").fetchall()
        texts = connection.execute("SELECT * FROM near_texts ORDER BY page").fetchall()
        requests = connection.execute("SELECT * FROM requests ORDER BY id").fetchall()
    return [tuple(row) for row in pages + texts + requests]
