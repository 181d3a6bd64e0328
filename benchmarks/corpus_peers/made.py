"""A corpus of any size from real texts: pages of passages, some of them repeated with edits.

A page is made of three passages of real documentation, so that no two groups share much. Half the
groups are one page; the others have repetitions with up to 1.5 % of their words changed, whose
Jaccard similarity of 5-shingles is .86 and more, pages with a quarter of the words changed, below
.2, which are none, and a copy now and then.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from functools import cache
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from lxml import etree
from lxml import html as lxml_html
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
NUMPY = ROOT.parent / "shared" / "data" / "numpy.docs.jsonl.gz"
FILE_DOCUMENTS = 25_000
PASSAGE_WORDS = (60, 110)
PASSAGES = 3
GROUP_SIZES = (1, 1, 1, 1, 2, 2, 3, 6)
LIGHT_SHARE, HEAVY_SHARE = 1 / 66, 1 / 4
MAX_SITE_FILES = 6_000

SINGLE, REPEATED, OTHER = "single", "repeated", "other"
JSONL, PARQUET, WARC = FORMATS = ("jsonl", "parquet", "warc")

LINKS, LINES = 30, 40
"""A page of an archive has so many links around its text, and so many words in a paragraph."""


class Document(NamedTuple):
    """A page; ``kind`` is ``repeated`` where a page before it in its group says the same."""

    name: str
    text: str
    kind: str


@cache
def passages() -> Sequence[list[str]]:
    """The words of real texts: the documentation of NumPy and what Debian packages hold."""
    texts = list(_numpy())
    folder = os.environ.get("NEARDUP_SITES")
    if folder:
        texts += _sites(Path(folder))
    found = [text.split() for text in texts]
    longest = PASSAGE_WORDS[1]
    return [words for words in found if len(words) > longest]


def _numpy() -> Iterator[str]:
    if NUMPY.exists():
        with gzip.open(NUMPY, "rt", encoding="utf-8") as file:
            for line in file:
                text = json.loads(line).get("text")  # those of a release before are not repeated
                if text is not None:
                    yield text


def _sites(folder: Path) -> Iterator[str]:
    files = sorted(file for file in folder.rglob("*.html") if file.is_file())
    random.Random(1).shuffle(files)
    for file in files[:MAX_SITE_FILES]:
        try:
            tree = lxml_html.fromstring(file.read_bytes())
        except (etree.LxmlError, ValueError):
            continue
        yield str(tree.text_content())


def documents(count: int) -> Iterator[Document]:
    """Yield so many documents, the same ones every time; those of a group lie near each other.

    A smaller corpus is the beginning of a larger one.
    """
    group = made = 0
    while made < count:
        source = random.Random(group)
        group += 1
        page = _page(source)
        for place in range(source.choice(GROUP_SIZES)):
            if made < count:
                words, kind = (page, SINGLE) if place == 0 else _variant(source, page)
                yield Document(f"http://made.example/{group}/{place}", " ".join(words), kind)
                made += 1


def _page(source: random.Random) -> list[str]:
    words: list[str] = []
    for _ in range(PASSAGES):
        text = source.choice(passages())
        size = source.randint(*PASSAGE_WORDS)
        start = source.randrange(len(text) - size + 1) if len(text) > size else 0
        words += text[start : start + size]
    return words


def _variant(source: random.Random, page: list[str]) -> tuple[list[str], str]:
    kind = source.choice(("light", "light", "light", "heavy", "copy"))
    share = {"light": LIGHT_SHARE, "heavy": HEAVY_SHARE, "copy": 0.0}[kind]
    words = list(page)
    for place in source.sample(range(len(words)), int(len(words) * share)):
        words[place] = source.choice(source.choice(passages()))
    return words, OTHER if kind == "heavy" else REPEATED


def write(folder: Path, count: int, form: str = JSONL) -> Path:
    """Write so many documents in a format, unless they are there; return their folder."""
    target = folder / f"{form}-{count}"
    if (target / "complete").exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    found = documents(count)
    # Of a few files each, so that all cores have some to read.
    size = min(FILE_DOCUMENTS, -(-count // 4))
    for number in range(-(-count // size)):
        _WRITERS[form](target / f"{number:05}.{_ENDINGS[form]}", list(islice(found, size)))
    (target / "complete").touch()
    return target


def _rows(made: Sequence[Document]) -> list[dict[str, str]]:
    return [{"url": one.name, "id": one.name, "text": one.text, "kind": one.kind} for one in made]


def _write_lines(path: Path, made: Sequence[Document]) -> None:
    lines = (json.dumps(row) + "\n" for row in _rows(made))
    path.write_text("".join(lines), encoding="utf-8")


def _write_table(path: Path, made: Sequence[Document]) -> None:
    pq.write_table(pa.Table.from_pylist(_rows(made)), path, row_group_size=FILE_DOCUMENTS // 5)


def _write_archive(path: Path, made: Sequence[Document]) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for one in made:
            head = [("Content-Type", "text/html; charset=utf-8")]
            record = writer.create_warc_record(
                one.name,
                "response",
                payload=io.BytesIO(_html(one).encode()),
                http_headers=StatusAndHeaders("200 OK", head, protocol="HTTP/1.1"),
            )
            writer.write_record(record)


def _html(document: Document) -> str:
    words = document.text.split()
    lines = (" ".join(words[at : at + LINES]) for at in range(0, len(words), LINES))
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in lines)
    links = "".join(f'<li><a href="/part/{n}">Part {n} of all</a></li>' for n in range(LINKS))
    name = f"Page {document.name.split('/')[-2]}"
    return (
        f"<!DOCTYPE html><html lang=en><head><title>{name}</title></head><body>"
        f"<nav><ul>{links}</ul></nav><main><article><h1>{name}</h1>{paragraphs}</article></main>"
        "<footer>All rights reserved</footer></body></html>"
    )


_ENDINGS = {JSONL: "jsonl", PARQUET: "parquet", WARC: "warc.gz"}
_WRITERS: dict[str, Callable[[Path, Sequence[Document]], None]] = {
    JSONL: _write_lines,
    PARQUET: _write_table,
    WARC: _write_archive,
}
