"""Train the model that finds the main content of pages, from pages with human truth.

    python benchmarks/train_content.py PAGES [--more PAGES] [--folds [--write]]
    python benchmarks/train_content.py --check [PAGES [--more PAGES]]

PAGES has ``truth.jsonl.gz`` and ``ID.html.gz`` as WCXB has them. A block's label is the share of
its words that the truth has in the same order. Pages of ``--more`` teach what content is, but
nothing of the types of pages. With ``--folds`` no model is written: pages are judged by models that
have not seen their sites, beside trafilatura in the same run. ``--check`` compares the digests that
the shipped model holds with those of the code that trains it, and of pages where they are given.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import trafilatura
from content_digests import MODEL, Digests, code_digest, pages_digest, shipped_digests
from content_training import (
    FOLDS,
    Labelled,
    folds_of,
    labels_of,
    train,
    type_odds,
    words_of,
)
from lxml.etree import fromstring
from measuring import named, table, write
from tldextract import TLDExtract

from crawler.reading.content.block_features import PageFeatures
from crawler.reading.content.block_scoring import BlockScorer
from crawler.reading.content.blocks import cut_blocks
from crawler.reading.content.content_text import plain_text
from crawler.reading.content.main_content import read_content
from crawler.reading.decoding import decode
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Scores = tuple[float, ...]
"""F1, precision, and the shares of wanted and unwanted snippets that a text has."""

FURTHER = "further pages"

_WORD = re.compile(r"\w+")


def read_pages(folder: Path, *, is_more: bool, compared: bool) -> Iterator[Labelled]:
    """Yield the pages of a folder with their labels, and trafilatura's text if asked to."""
    domains = TLDExtract(suffix_list_urls=())
    with gzip.open(folder / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        body = gzip.decompress((folder / f"{row['id']}.html.gz").read_bytes())
        root = parse(decode(body, "text/html; charset=utf-8").utf8)
        blocks = cut_blocks(flatten(root))
        url = row["url"] or ""
        site = domains(url).top_domain_under_public_suffix or row["id"]
        yield Labelled(
            row["type"],
            is_more,
            site,
            root,
            blocks,
            PageFeatures(blocks, root),
            labels_of(blocks.texts, row["text"] or ""),
            (trafilatura.extract(body.decode(errors="replace")) or "") if compared else "",
            words_of(row["text"]),
            row["wanted"] or [],
            row["unwanted"] or [],
        )


def f1_and_precision(found: list[str], truth: list[str]) -> tuple[float, float]:
    """Return the F1 and the precision of a bag of words."""
    if not found or not truth:
        return (float(not found and not truth),) * 2
    common = (Counter(found) & Counter(truth)).total()
    return 2 * common / (len(found) + len(truth)), common / len(found)


def scores(page: Labelled, scorer: BlockScorer) -> tuple[Scores, Scores, Scores]:
    """Return the scores of what is shown of a page, of its chosen blocks, and of trafilatura."""
    content = read_content(page.root, flatten(page.root), scorer=scorer)
    shown, peer = (
        scores_of_text(page, plain_text(fromstring(content.xml))),
        scores_of_text(page, page.peer),
    )
    return shown, scores_of_text(page, content.text), peer


def scores_of_text(page: Labelled, text: str) -> Scores:
    """Return F1, precision and the shares of wanted and unwanted snippets of a text."""
    shares = [
        sum(one.lower() in text.lower() for one in snippets) / len(snippets) if snippets else none
        for snippets, none in ((page.wanted, 1.0), (page.unwanted, 0.0))
    ]
    return *f1_and_precision(words_of(text), page.truth), *shares


def cross_validate(pages: Sequence[Labelled], folds: Any, odds: Sequence[Any]) -> list[str]:
    """Return tables of the figures of pages by models that have not seen their sites."""
    by_kind: dict[str, list[tuple[Scores, Scores, Scores]]] = defaultdict(list)
    for fold in range(FOLDS):
        others = np.flatnonzero(folds != fold).tolist()
        scorer = BlockScorer(train([pages[at] for at in others], [odds[at] for at in others]))
        for at in np.flatnonzero(folds == fold).tolist():
            kind = FURTHER if pages[at].is_more else pages[at].kind
            by_kind[kind].append(scores(pages[at], scorer))
        print(f"fold {fold + 1} of {FOLDS} done", file=sys.stderr)
    judged = [row for kind, rows in by_kind.items() if kind != FURTHER for row in rows]
    names = ("shown", "by blocks alone", named("trafilatura"))
    figures = ("F1", "precision", "wanted", "unwanted")
    of_all = np.mean(judged, axis=0)
    whole = {name: dict(zip(figures, of_all[at], strict=True)) for at, name in enumerate(names)}
    means = {kind: np.mean(rows, axis=0) for kind, rows in sorted(by_kind.items())}
    tables = [table(whole, f"{len(judged)} pages in folds")]
    if FURTHER in means:
        # Their truth has no snippets.
        of_further = means.pop(FURTHER)[:, :2]
        further = {
            name: dict(zip(figures, of_further[at], strict=False)) for at, name in enumerate(names)
        }
        tables.append(table(further, f"{len(by_kind[FURTHER])} {FURTHER} in folds"))
    by_type = {
        name: {kind: found[at][0] for kind, found in means.items()} for at, name in enumerate(names)
    }
    return [*tables, table(by_type, "F1 by type")]


def differences(folders: Sequence[Path]) -> Iterator[str]:
    """Yield what the shipped model was not trained by, though it is here."""
    shipped = shipped_digests()
    if shipped.code != code_digest():
        yield "code"
    if folders and shipped.pages != pages_digest(folders):
        yield "pages"


def main() -> None:
    """Train, and write the model or say how good it is."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("pages", type=Path, nargs="?")
    parser.add_argument("--more", type=Path, help="further pages to learn from")
    parser.add_argument("--folds", action="store_true", help="judge it by folds, write nothing")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md by folds")
    parser.add_argument("--check", action="store_true", help="compare with what is shipped")
    arguments = parser.parse_args()
    folders = [folder for folder in (arguments.pages, arguments.more) if folder]
    if arguments.check:
        found = ", ".join(differences(folders))
        sys.exit(f"{MODEL.name} was trained by other {found}: train it again" if found else 0)
    if arguments.pages is None:
        parser.error("PAGES are needed to train")
    pages = [
        page
        for folder in folders
        for page in read_pages(folder, is_more=folder is arguments.more, compared=arguments.folds)
    ]
    folds = folds_of(pages)
    odds = type_odds(pages, folds)
    if arguments.folds:
        tables = cross_validate(pages, folds, odds)
        print("\n\n".join(tables))
        if arguments.write:
            how = f"{FOLDS} folds by site: each page is read by a model that has not seen its site."
            write("train_content.py", tables, how)
        return
    model = train(pages, odds)
    digests = Digests(code_digest(), pages_digest(folders))
    with MODEL.open("wb") as file:
        np.savez_compressed(file, **model._asdict(), **digests._asdict())
    print(f"{MODEL.name}: {MODEL.stat().st_size:,} bytes from {len(pages)} pages")


if __name__ == "__main__":
    main()
