"""The lab's sliders: what they cost at 10,000 and 100,000 pages.

    python benchmarks/lab.py [--sizes 10000 100000] [--texts FILE] [--json]

Pages are real texts where ``--texts FILE.jsonl.gz`` has them (rows with ``g``, the number of the
text, and ``text`` at its first row), else the prose of the demo site. Of more pages than there are
rows each further round changes some words of every text: none, a few, up to a tenth. Fingerprints
are there already, as in ``crawl.db``; texts are read from zstd. "Prepare" is what happens once,
"moved" what happens at each position of a slider: judge, counts, what changes, sizes of clusters,
histogram and scatter. Of the positions some move ``min_words``, for which all pictures are drawn
anew.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard
from measuring import made_texts, table

from crawler.lab.crawl_source import LabPage
from crawler.lab.judgement import Choice
from crawler.lab.session import Session
from crawler.pages.verdicts import NEW
from neardup import Parameters
from neardup.document import analyse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection

SIZES = (10_000, 100_000)
TARGET_MS = {10_000: 200.0, 100_000: 2000.0}
POSITIONS = 40
PAGE_BYTES = 4096
PARAMETERS = Parameters()
RUNNING = Choice(PARAMETERS)


def real_texts(path: Path) -> list[str]:
    """The texts of a crawl, page by page; pages without one are left out."""
    texts: dict[int, str] = {}
    pages = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["g"] is not None:
                texts.setdefault(row["g"], row.get("text", ""))
                pages.append(texts[row["g"]])
    return pages


def edited(text: str, number: int) -> str:
    """The text with some words changed: of some none, of the others up to a tenth."""
    source, words = random.Random(number), text.split(" ")
    most = source.choice((0, 2, 5, len(words) // 50, len(words) // 10))
    for _ in range(min(most, len(words))):
        words[source.randrange(len(words))] = f"edit{source.randrange(10**6)}"
    return " ".join(words)


class Pages:
    """Pages with their texts, packed as a crawl packs them."""

    def __init__(self, texts: Sequence[str], count: int) -> None:
        self._packed: list[bytes] = []
        self.pages: list[LabPage] = []
        for number in range(count):
            text = texts[number % len(texts)]
            self._add(text if number < len(texts) else edited(text, number))

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """Give texts as a source does."""
        for number in ids:
            yield zstandard.decompress(self._packed[number]).decode()

    def _add(self, text: str) -> None:
        number, document = len(self.pages), analyse(text, PARAMETERS)
        self._packed.append(zstandard.compress(text.encode()))
        self.pages.append(
            LabPage(
                id=number,
                url=f"http://127.0.0.1/{number}",
                title="",
                words=document.words,
                text_digest=document.digest,
                visible_digest=None,
                payload_digest=None,
                fingerprint=document.fingerprint,
                is_main=True,
                body_bytes=len(text),
                verdict=NEW,
            )
        )


def positions() -> Iterator[Choice]:
    """Where a hand may move the sliders."""
    source = random.Random(1)
    for _ in range(POSITIONS):
        parameters = replace(
            PARAMETERS,
            max_distance=source.randrange(9),
            compare_names=source.random() < 0.8,
            min_similarity=source.randrange(50, 101) / 100,
            min_words=source.choice((50, 50, source.randrange(10, 200))),
            features=PARAMETERS.fingerprint_features,
            verify=source.random() < 0.8,
        )
        yield Choice(parameters)


def distances_of(choice: Choice) -> list[Choice]:
    """Return the choice with each distance."""
    return [choice.with_parameters(max_distance=bits) for bits in range(9)]


def move(session: Session, choice: Choice) -> None:
    """Do all that the page shows at one position."""
    judgement = session.judge(choice)
    judgement.counts()
    judgement.cluster_sizes()
    judgement.changes_from(session.judge(RUNNING))
    session.histogram(choice)
    session.scatter(choice)


def resident_bytes() -> int:
    """Memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def timed_ms(deed: Callable[[], object]) -> float:
    """How long a deed takes."""
    started = time.perf_counter()
    deed()
    return 1e3 * (time.perf_counter() - started)


def warm(texts: Sequence[str]) -> None:
    """Do all of it once, so that no import is measured."""
    made = Pages(texts, 200)
    session = Session(made.texts, PARAMETERS, lambda: lambda page: None)
    session.extend(made.pages)
    move(session, RUNNING)
    session.sweep(distances_of(RUNNING))


def measured(texts: Sequence[str], count: int) -> dict[str, float]:
    """Prepare so many pages and move the sliders."""
    warm(texts)
    made = Pages(texts, count)
    before = resident_bytes()
    session = Session(made.texts, PARAMETERS, lambda: lambda page: None)
    extended = timed_ms(lambda: session.extend(made.pages))
    prepared = timed_ms(lambda: session.prepare(RUNNING))
    first = timed_ms(lambda: move(session, RUNNING))
    moved = [timed_ms(lambda choice=choice: move(session, choice)) for choice in positions()]  # type: ignore[misc]
    unseen = replace(RUNNING, parameters=replace(PARAMETERS, min_similarity=0.7654))
    dropping = replace(RUNNING, parameters=replace(PARAMETERS, drop_contained=True))
    return {
        "distinct pairs within 8 bits": session.scatter(RUNNING).pairs,
        "dropped": session.judge(RUNNING).dropped_count,
        "pages taken, s": extended / 1e3,
        "prepared, s": prepared / 1e3,
        "first picture, ms": first,
        "slider moved, ms, median": statistics.median(moved),
        "slider moved, ms, worst": max(moved),
        "target, ms": TARGET_MS.get(count, 0.02 * count),
        "sweep of 9 distances, ms": timed_ms(lambda: session.sweep(distances_of(unseen))),
        "100 pairs ranked, ms": timed_ms(lambda: session.pairs(unseen, range(9), 100)),
        "parts found, s": timed_ms(lambda: session.prepare(dropping)) / 1e3,
        "dropped with parts": session.judge(dropping).dropped_count,
        "slider moved with parts, ms": timed_ms(
            lambda: move(
                session, dropping.with_parameters(min_similarity=unseen.parameters.min_similarity)
            )
        ),
        "memory of all, MB": (resident_bytes() - before) / 1e6,
    }


def report(texts: Sequence[str], count: int, sender: Connection) -> None:
    """The work of a process, so that its memory is its own."""
    sender.send(measured(texts, count))


def in_a_process(texts: Sequence[str], count: int) -> dict[str, float]:
    """Measure in a fresh process."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=report, args=(texts, count, sender))
    process.start()
    sender.close()
    found: dict[str, float] = receiver.recv()
    process.join()
    return found


def main() -> None:
    """Measure all sizes and print them beside each other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--texts", type=Path, metavar="FILE.jsonl.gz")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    texts = real_texts(arguments.texts) if arguments.texts else made_texts(400, 3000)
    found = {f"{count:,} pages": in_a_process(texts, count) for count in arguments.sizes}
    print(json.dumps(found, indent=2) if arguments.json else table(turned(found), "wall time"))


def turned(found: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Rows for columns."""
    names = next(iter(found.values()))
    return {name: {size: row[name] for size, row in found.items()} for name in names}


if __name__ == "__main__":
    main()
