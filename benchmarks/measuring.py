"""What the benchmarks of fingerprints share: texts, rounds, first calls, tables."""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawl_peers.tables import machine, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    Way: TypeAlias = Callable[[Sequence[str]], object]

Rates = dict[str, dict[int, float]]

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "benchmarks.md"
WORDS = (200, 1000, 5000)
ROUNDS = 7

# Words that a round has for each length of text.
_WORDS_A_ROUND = 100_000
_CHAPTERS = ("boats", "harbour", "lights", "pilotage", "ropes", "weather")

# Run as a process of its own, with what is to be measured in the place of the braces.
_FIRST_CALL = """
import json, re, time
from pathlib import Path
started = time.process_time()
import neardup
imported = time.process_time()
{}
called = time.process_time()
# getrusage would tell the peak of the process that started this one.
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
print(json.dumps([imported - started, called - imported, int(peak[1]) * 1024]))
"""


@cache
def sentences(*chapters: str) -> list[str]:
    """The sentences of the prose that the demo site is made of."""
    found: list[str] = []
    for chapter in chapters:
        folder = resources.files("crawler.demo").joinpath("texts", chapter)
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            _, _, body = file.read_text(encoding="utf-8").partition("\n\n")
            found += re.split(r"(?<=[.!?])\s+", " ".join(body.split()))
    return found


def made_texts(
    words: int, count: int | None = None, chapters: Sequence[str] = _CHAPTERS
) -> list[str]:
    """Texts of so many words, of sentences drawn at random; the same every time."""
    texts = []
    for seed in range(count or _WORDS_A_ROUND // words):
        source, drawn = random.Random(seed), list[str]()
        while len(drawn) < words:
            drawn += source.choice(sentences(*chapters)).split()
        texts.append(" ".join(drawn[:words]))
    return texts


def installed(name: str) -> Any:
    """Return the module, or None and say so."""
    # A benchmark may have the name of its peer.
    here = str(Path(__file__).parent)
    hidden = [entry for entry in sys.path if entry != here]
    shown, sys.path = sys.path, hidden
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: left out", file=sys.stderr)
        return None
    finally:
        sys.path = shown


def named(distribution: str) -> str:
    """Return a peer's name with its version."""
    return f"{distribution} {metadata.version(distribution)}"


def cpu_secs(deed: Callable[[], object]) -> float:
    """CPU time of a deed, all threads counted."""
    started = time.process_time()
    deed()
    return time.process_time() - started


def rounds(
    ways: Mapping[str, Way], texts: Sequence[str], count: int = ROUNDS
) -> dict[str, list[float]]:
    """CPU seconds of each way in each round, the ways by turns."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way(texts[:2])
    for _ in range(count):
        for name, way in ways.items():
            spent[name].append(cpu_secs(lambda way=way: way(texts)))  # type: ignore[misc]
    return spent


def rates(ways: Mapping[str, Way], ours: str) -> tuple[Rates, Rates]:
    """Documents a second of each way by length, and how many times each peer ``ours`` makes."""
    found: Rates = {name: {} for name in ways}
    ratios: Rates = {name: {} for name in ways}
    for words in WORDS:
        texts = made_texts(words)
        spent = rounds(ways, texts)
        for name, each in spent.items():
            found[name][words] = len(texts) / statistics.median(each)
            pairs = zip(each, spent[ours], strict=True)
            ratios[name][words] = statistics.median(theirs / our for theirs, our in pairs)
    return found, ratios


def with_wanted(ratios: Rates, wanted: Mapping[str, float]) -> dict[str, dict[Any, float]]:
    """The ratios to peers, which have a version in their name, with those that are wanted."""
    rows: dict[str, dict[Any, float]] = {}
    for name, row in ratios.items():
        peer, _, version = name.partition(" ")
        if version:
            rows[name] = {**row, "wanted": wanted.get(peer, 1.0)}
    return rows


def first_call(statement: str) -> dict[str, float]:
    """What the import and a first call take in a new process."""
    ran = subprocess.run(
        [sys.executable, "-c", _FIRST_CALL.format(statement)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    imported, called, peak_bytes = json.loads(ran.stdout)
    return {"import, CPU s": imported, "first call, CPU s": called, "peak MB": peak_bytes / 1e6}


def table(rows: Mapping[str, Mapping[Any, float]], head: str, unit: str = "") -> str:
    """Rows as Markdown; columns that are numbers are numbers of words."""
    columns = list(next(iter(rows.values())))
    titles = [f"{one:,} words{unit}" if isinstance(one, int) else f"{one}{unit}" for one in columns]
    lines = [f"| {head} | " + " | ".join(titles) + " |", "|---|" + "--:|" * len(columns)]
    for name, row in rows.items():
        cells = [f"{row[c]:,.0f}" if row[c] >= 100 else f"{row[c]:.3g}" for c in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


_TURNS = f"CPU time of one core, medians of {ROUNDS} rounds in which all take turns."


def write(script: str, tables: Sequence[str], how: str = _TURNS) -> None:
    """Replace a benchmark's section of the documentation.

    Args:
        script: Its name.
        tables: What was measured.
        how: It was measured.

    Raises:
        ValueError: The document has not both marks.
    """
    begin, end = (f"<!-- {one} benchmarks/{script} -->" for one in ("written by", "end of"))
    measured = f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}; {how}"
    rewrite(DOCUMENT, "\n\n".join([begin, measured, *tables, end]))
