"""The main content of pages with human truth: ours beside trafilatura and resiliparse, in one run.

    python benchmarks/text.py [PAGES] [--json] [--write]
    python benchmarks/text.py --structure NPM [--write]

PAGES has ``truth.jsonl.gz`` and ``ID.html.gz`` as WCXB has them. F1 is over bags of words,
lower-cased, the mean of pages; wanted and unwanted are the shares of snippets that a text has. Our
model was trained on pages of WCXB: what it gives on pages that it has not seen stands in
docs/choices.md (``benchmarks/train_content.py --folds``).

What a page costs in a worker, from its bytes to links, metadata and text, is measured by the same
code on these pages and on every fourth file of three documentation sites, beside trafilatura. All
runs on one thread, as workers do: a second one of NumPy's would be counted while it waits.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import hashlib
import json
import os
import re
import sys
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trafilatura
from lxml.etree import fromstring
from measuring import ROOT, installed, named, table, write

sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from text_structure import formulas, measured

from crawler.reading.content.content_text import plain_text
from crawler.reading.content.main_content import EXTRACTORS, read_content
from crawler.reading.decoding import decode
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.page_reading import PageReader
from crawler.reading.protocol import ReadingOptions
from crawler.reading.reading import ReadingTask
from crawler.reading.reading_worker import prepared
from neardup.forking import ONE_THREAD
from tests.sites.packages import PACKAGES, SiteUnavailableError, html_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Reader: TypeAlias = Callable[[bytes], str]

OURS, ARCHIVE = "read_content", "WARC, --extractor"
PAGES = ROOT.parent / "shared" / "data" / "pages"
SITES = ("python3.11-doc", "sqlite3-doc", "apache2-doc")
STRIDE = 4
_WORD = re.compile(r"\w+")
Rows = dict[str, dict[str, float]]


def ours(body: bytes) -> str:
    """Return our content of a page as plain text."""
    root = parse(decode(body, "text/html; charset=utf-8").utf8)
    return plain_text(fromstring(read_content(root, flatten(root)).xml))


def of_archive(extractor: str) -> Reader:
    """Return what gives the main text of a page of an archive, as a corpus gets it.

    It has the text of ``extractor``, or all visible text where that cannot stand for the page.
    """
    reader = PageReader(ReadingOptions(extractor=extractor))

    def read(body: bytes) -> str:
        task = ReadingTask("http://127.0.0.1/a/b", body, "text/html; charset=utf-8")
        reader.see(reader.parse(task))
        return reader.extract().extract.text

    return read


def readers() -> dict[str, Reader]:
    """Return each way from a page to its text."""
    found: dict[str, Reader] = {
        OURS: ours,
        **{f"{ARCHIVE} {name}": of_archive(name) for name in EXTRACTORS},
        named("trafilatura"): lambda body: trafilatura.extract(body.decode(errors="replace")) or "",
        f"{named('trafilatura')}, fast": lambda body: (
            trafilatura.extract(body.decode(errors="replace"), fast=True) or ""
        ),
    }
    if extraction := installed("resiliparse.extract.html2text"):
        found[named("resiliparse")] = lambda body: str(
            extraction.extract_plain_text(
                body.decode(errors="replace"), main_content=True, alt_texts=False
            )
        )
    return found


def bag_f1(found: str, truth: str) -> float:
    """Return the F1 of the words of two texts."""
    mine, true = _WORD.findall(found.lower()), _WORD.findall(truth.lower())
    if not mine or not true:
        return float(not mine and not true)
    return 2 * (Counter(mine) & Counter(true)).total() / (len(mine) + len(true))


def snippet_share(text: str, snippets: list[str], none: float) -> float:
    """Return the share of snippets that a text has."""
    lower = text.lower()
    return sum(one.lower() in lower for one in snippets) / len(snippets) if snippets else none


def truth_of(folder: Path) -> tuple[list[dict[str, Any]], str]:
    """Return the truth of a folder's pages, and the digest of all its files."""
    packed = gzip.decompress((folder / "truth.jsonl.gz").read_bytes())
    digest = hashlib.sha256(packed)
    rows = [json.loads(line) for line in packed.splitlines()]
    for row in rows:
        digest.update((folder / f"{row['id']}.html.gz").read_bytes())
    return rows, digest.hexdigest()[:16]


def measure(folder: Path, rows: list[dict[str, Any]], read: Reader) -> tuple[Rows, float]:
    """Return the figures by type of page, and the CPU milliseconds that a page takes."""
    by_type: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    secs = 0.0
    for row in rows:
        body = gzip.decompress((folder / f"{row['id']}.html.gz").read_bytes())
        started = time.process_time()
        text = read(body)
        secs += time.process_time() - started
        shares = (
            snippet_share(text, row["wanted"] or [], 1.0),
            snippet_share(text, row["unwanted"] or [], 0.0),
        )
        scored = (bag_f1(text, row["text"] or ""), *shares)
        by_type[row["type"]].append(scored)
        by_type["all"].append(scored)
    names = ("F1", "wanted", "unwanted")
    figures = {
        kind: {name: sum(one[at] for one in scored) / len(scored) for at, name in enumerate(names)}
        for kind, scored in sorted(by_type.items())
    }
    return figures, secs * 1000 / len(rows)


def bodies_of(site: str) -> list[bytes]:
    """Return every fourth page of a documentation site, none where it cannot be had."""
    try:
        files = sorted(html_folder(PACKAGES[site]).rglob("*.html*"))
    except SiteUnavailableError as error:
        print(f"{error}: left out", file=sys.stderr)
        return []
    return [file.read_bytes() for file in files if file.is_file()][::STRIDE]


def cost(bodies: list[bytes]) -> dict[str, float]:
    """Return the CPU milliseconds of a page, by step, and those of trafilatura."""
    reader, peer = PageReader(ReadingOptions()), named("trafilatura")
    secs = dict.fromkeys(("links and metadata", "visible text", "content and text"), 0.0)
    for body in bodies:
        task = ReadingTask("http://127.0.0.1/a/b", body, "text/html; charset=utf-8")
        times = [time.process_time()]
        parsed = reader.parse(task)
        times.append(time.process_time())
        reader.see(parsed)
        times.append(time.process_time())
        reader.extract()
        times.append(time.process_time())
        for name, (start, end) in zip(secs, pairwise(times), strict=True):
            secs[name] += end - start
    secs["all"] = sum(secs.values())
    started = time.process_time()
    for body in bodies:
        trafilatura.extract(body.decode(errors="replace"))
    secs[peer] = time.process_time() - started
    found = {name: spent * 1000 / len(bodies) for name, spent in secs.items()}
    return found | {"ratio": found["all"] / found[peer]}


def costs(folder: Path, rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return what a page costs, by set of pages."""
    pages = [gzip.decompress((folder / f"{row['id']}.html.gz").read_bytes()) for row in rows]
    prepared()
    gc.collect()
    gc.freeze()
    sets = {f"{len(pages)} pages": pages} | {site: bodies_of(site) for site in SITES}
    return {name: cost(bodies) for name, bodies in sets.items() if bodies}


def main() -> None:
    """Measure all that is installed, print it, and write it if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("pages", type=Path, nargs="?", default=PAGES)
    parser.add_argument("--json", action="store_true", help="figures as JSON, no tables")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    parser.add_argument(
        "--structure",
        type=Path,
        metavar="NPM",
        help="score cells, items, code and formulas; NPM is where npm has installed the peers",
    )
    arguments = parser.parse_args()
    if arguments.structure is not None:
        shares, count = measured(arguments.structure)
        tables = [table(shares, f"{count} pages of manuals", " in place, %")]
        of_formulas, cases = formulas(arguments.structure)
        if of_formulas:
            tables.append(table(of_formulas, f"{cases} formulas, whole and alone", ", %"))
        print("\n\n".join(tables))
        if arguments.write:
            how = "shares of what stands within the content of the pages, read from Markdown."
            write("text_structure.py", tables, how)
        return
    if not ONE_THREAD.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)
    if not (arguments.pages / "truth.jsonl.gz").exists():
        print(f"{arguments.pages} has no truth.jsonl.gz: nothing measured", file=sys.stderr)
        return
    rows, digest = truth_of(arguments.pages)
    whole: dict[str, dict[str, float]] = {}
    by_type: dict[str, dict[str, float]] = {}
    for name, read in readers().items():
        figures, millisecs = measure(arguments.pages, rows, read)
        whole[name] = {**figures.pop("all"), "CPU ms a page": millisecs}
        by_type[name] = {kind: row["F1"] for kind, row in figures.items()}
    of_page = costs(arguments.pages, rows)
    if arguments.json:
        found = {"digest": digest, "all": whole, "F1": by_type, "cost": of_page}
        print(json.dumps(found, indent=2))
        return
    tables = [table(whole, f"{len(rows)} pages"), table(by_type, "F1 by type")]
    tables.append(table(of_page, "CPU ms a page, all that is read"))
    print("\n\n".join(tables))
    if arguments.write:
        write(
            "text.py",
            tables,
            f"CPU time of one core, parsing included; pages with the digest {digest}. Our model "
            "was trained on these pages: docs/choices.md has what it gives on pages not seen.",
        )


if __name__ == "__main__":
    main()
