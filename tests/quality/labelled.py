"""Documents of which one knows what they are: pages as a crawl reads them, NumPy's texts."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.reading.page_reading import PageReader
from crawler.reading.protocol import ReadingOptions
from crawler.reading.reading import Extracted, Parsed, ReadingTask, extract_of, to_reading
from neardup import Document, Parameters, analyse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from tests.sites.templates.copies import MadePage

    Reader: TypeAlias = Callable[[Sequence[tuple[str, bytes]]], Iterable["ReadPage"]]

DATA = Path(__file__).parents[3] / "shared" / "data"
NUMPY_TEXTS = DATA / "numpy.docs.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A document and its truth.

    Attributes:
        label: Where it was found, for reports; two documents of a set have not the same.
        identities: What it is. Two documents are copies of each other where they share one;
            a text that several pages have is each of them.
        document: The document, as a crawl judges it.
    """

    label: str
    identities: frozenset[str]
    document: Document

    def is_copy_of(self, other: Labelled) -> bool:
        return not self.identities.isdisjoint(other.identities)


class ReadPage(NamedTuple):
    """A page in both steps of its reading, without its links."""

    url: str
    parsed: Parsed
    extracted: Extracted


def read_pages(pages: Iterable[tuple[str, bytes]]) -> Iterator[ReadPage]:
    """Read pages, given by URL and body, as the worker of a crawl does."""
    reader = PageReader(ReadingOptions(workers=1))
    for url, body in pages:
        parsed = reader.see(reader.parse(ReadingTask(url, body, "text/html; charset=utf-8")))
        yield ReadPage(url, parsed._replace(links=[]), reader.extract())


def document_of(page: ReadPage, parameters: Parameters) -> Document:
    """Return the document that a crawl judges the page by."""
    text, packed = page.extracted.extract.judged_text, page.extracted.extract.text_zstd
    is_main, digest = page.extracted.extract.is_main, page.parsed.visible_digest
    extract = extract_of(text, packed, is_main, digest, parameters)
    extracted = page.extracted._replace(extract=extract)
    document = to_reading(page.url, page.parsed, extracted).document(parameters.min_words)
    assert document is not None
    return document


def labelled_pages(
    pages: Sequence[MadePage], parameters: Parameters, read: Reader = read_pages
) -> list[Labelled]:
    """Return made pages as a crawl reads them.

    Args:
        pages: The pages.
        parameters: The parameters whose features count.
        read: Reads pages, given by URL and body.
    """
    return [
        Labelled(
            f"{page.url} ({page.way})" if page.way else page.url,
            frozenset({page.identity}),
            document_of(each, parameters),
        )
        for page, each in zip(pages, read([(page.url, page.html) for page in pages]), strict=True)
    ]


def numpy_texts(parameters: Parameters) -> list[Labelled]:
    """Return the distinct texts of NumPy's documentation in crawl order.

    A text is every page that shows it, in whichever version: ``numpy-1.26:reference/index.html``
    and ``numpy-2.0:reference/index.html`` are one page, ``reference/index.html``.
    """
    identities: defaultdict[int, set[str]] = defaultdict(set)
    texts: list[tuple[int, str, str]] = []
    with gzip.open(NUMPY_TEXTS, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["g"] is None:
                continue
            path = row["id"].partition(":")[2]
            # Version 2.0 has some pages one folder deeper than the others have them.
            identities[row["g"]].add(path.replace("generated/generated/", "generated/"))
            if "text" in row:
                texts.append((row["g"], row["id"], row["text"]))
    return [
        Labelled(label, frozenset(identities[number]), analyse(text, parameters))
        for number, label, text in texts
    ]
