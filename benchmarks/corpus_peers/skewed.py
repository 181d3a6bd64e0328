"""Corpora of one size and of uneven groups, to tell what large groups cost.

A *uniform* one is that of ``made``. Of *one template* all pages are one text with 1 % of its words
changed, so that one is kept; of *half-alike* ones all share half of their words, and all are kept.
A *start* has 10 pages of the uniform one: what a run takes before its first page.
"""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from corpus_peers import made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Row = dict[str, Any]
Run: TypeAlias = "Callable[[str, Path, Path], tuple[dict[str, float], set[str], Row]]"

START, UNIFORM, TEMPLATE, HALF = KINDS = ("start", "uniform", "one template", "half-alike")
START_DOCUMENTS, DOCUMENTS, FILES, WORDS = 10, 20_000, 4, 250


def texts(kind: str, count: int) -> Iterator[str]:
    """Yield the texts of a corpus, the same ones every time."""
    if kind in {START, UNIFORM}:
        yield from (document.text for document in made.documents(count))
        return
    source = random.Random(kind)
    template = words(source, WORDS)
    for _ in range(count):
        if kind == TEMPLATE:
            page = list(template)
            for place in source.sample(range(WORDS), WORDS // 100):
                page[place] = words(source, 1)[0]
        else:
            page = template[: WORDS // 2] + words(source, WORDS // 2)
        yield " ".join(page)


def words(source: random.Random, count: int) -> list[str]:
    """Return so many words that follow each other in no text."""
    return [source.choice(source.choice(made.passages())) for _ in range(count)]


def write(folder: Path, kind: str, count: int) -> Path:
    """Write a corpus as JSON lines, in files of one size; return their folder."""
    target = folder / f"{kind.replace(' ', '-')}-{count}"
    target.mkdir(parents=True, exist_ok=True)
    files = [(target / f"{number}.jsonl").open("w", encoding="utf-8") for number in range(FILES)]
    for number, text in enumerate(texts(kind, count)):
        url = f"http://made.example/{number}"
        files[number * FILES // count].write(json.dumps({"url": url, "text": text}) + "\n")
    for file in files:
        file.close()
    return target


def measured(run: Run, programs: list[str], folder: Path) -> list[Row]:
    """Run each program on each corpus, once before anything is measured."""
    rows = []
    for program in programs:
        run(program, write(folder, START, START_DOCUMENTS), folder)
    for kind in KINDS:
        size = START_DOCUMENTS if kind == START else DOCUMENTS
        source = write(folder, kind, size)
        for program in programs:
            took, kept, _ = run(program, source, folder)
            rows.append({"who": program, "kind": kind, "documents": size, **took})
            rows[-1]["kept"] = len(kept)
            print(json.dumps(rows[-1]), file=sys.stderr)
    return rows


def table(rows: list[Row]) -> str:
    """Return the figures as Markdown; ratios are to the uniform corpus, without the starts."""
    lines = [
        "| corpus | documents | | CPU s | without the start | of the uniform one | kept |",
        "|---|--:|---|--:|--:|--:|--:|",
    ]
    spent = {(row["who"], row["kind"]): row["CPU s"] for row in rows}
    for row in rows:
        start, uniform = (spent[row["who"], kind] for kind in (START, UNIFORM))
        net = row["CPU s"] - start
        of_uniform = "" if row["kind"] == START else f"{net / (uniform - start):.1f}"
        lines.append(
            f"| {row['kind']} | {row['documents']:,} | {row['who']} | {row['CPU s']:.1f} "
            f"| {net:.1f} | {of_uniform} | {row['kept']:,} |"
        )
    return "\n".join(lines)
