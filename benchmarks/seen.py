"""The seen set beside the one of Scrapy's dupe filter: memory a URL, and time a question.

    python benchmarks/seen.py [--urls 10000000] [--json]

Each side runs in a process of its own, so that its memory is its own: resident
memory is read before and after. Keys are hashes of numbered URLs; the time to
make them is taken off. Scrapy's side is the set of 20-byte fingerprints that
``RFPDupeFilter`` holds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from crawler.frontier.seen import SeenSet
from crawler.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

PAGE_BYTES = 4096
QUESTIONS = 200_000


def resident_bytes() -> int:
    """Resident memory that is not backed by a file."""
    fields = Path("/proc/self/statm").read_text().split()
    return (int(fields[1]) - int(fields[2])) * PAGE_BYTES


def our_keys(start: int, stop: int) -> Iterator[bytes]:
    """Hashes as the fingerprinter of the crawl makes them."""
    for number in range(start, stop):
        yield xxhash.xxh3_128_digest(b"http://example.com/page/%d" % number)


def scrapys_keys(start: int, stop: int) -> Iterator[bytes]:
    """Hashes as long as those of Scrapy's fingerprinter."""
    for number in range(start, stop):
        yield hashlib.sha1(b"http://example.com/page/%d" % number).digest()


def ours(urls: int) -> dict[str, float]:
    """Fill and ask ``SeenSet`` over a real database."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder))
        before = resident_bytes()
        seen = SeenSet(database, Path(folder) / "seen.bloom")

        def add(key: bytes) -> None:
            seen.add(key)
            if database.is_due():
                database.commit()

        result = measure(urls, our_keys, add, seen.__contains__, before)
        database.commit()
        result["MB on disk"] = sum(f.stat().st_size for f in Path(folder).iterdir()) / 1e6
        database.close()
    return result


def scrapys(urls: int) -> dict[str, float]:
    """Fill and ask a set of bytes."""
    before = resident_bytes()
    seen: set[bytes] = set()
    return measure(urls, scrapys_keys, seen.add, seen.__contains__, before)


def measure(
    urls: int,
    keys: Callable[[int, int], Iterator[bytes]],
    add: Callable[[bytes], Any],
    contains: Callable[[bytes], bool],
    before: int,
) -> dict[str, float]:
    """Time and memory of adding, then of asking for old and for new keys."""

    def spend(deed: Callable[[bytes], Any], start: int, stop: int) -> float:
        made, started = list(keys(start, stop)), time.perf_counter()
        for key in made:
            deed(key)
        return time.perf_counter() - started

    batch = min(urls, 100_000)
    adding = sum(spend(add, start, min(start + batch, urls)) for start in range(0, urls, batch))
    asked = min(QUESTIONS, urls)
    # Memory is read here: asking changes only which of the keys are held as recent ones.
    memory = resident_bytes() - before
    recent = spend(contains, urls - asked, urls)
    oldest = spend(contains, 0, asked)
    new = spend(contains, urls, urls + asked)
    return {
        "bytes a URL": memory / urls,
        "us an add": adding / urls * 1e6,
        "us a question, recent": recent / asked * 1e6,
        "us a question, oldest": oldest / asked * 1e6,
        "us a question, new": new / asked * 1e6,
    }


def in_a_process(side: Callable[[int], dict[str, float]], urls: int) -> dict[str, float]:
    """Run one side in a fresh process."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=report, args=(side, urls, sender))
    process.start()
    sender.close()
    result: dict[str, float] = receiver.recv()
    process.join()
    return result


def report(side: Callable[[int], dict[str, float]], urls: int, sender: Connection) -> None:
    """The process's work."""
    sender.send(side(urls))


def main() -> None:
    """Measure both and print them beside each other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=10_000_000, metavar="N")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = {
        "SeenSet": in_a_process(ours, arguments.urls),
        "Scrapy's set": in_a_process(scrapys, arguments.urls),
    }
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    print(f"| {arguments.urls:,} URLs | SeenSet | Scrapy's set |\n|---|--:|--:|")
    for name in results["SeenSet"]:
        theirs = results["Scrapy's set"].get(name)
        other = "" if theirs is None else f"{theirs:.2f}"
        print(f"| {name} | {results['SeenSet'][name]:.2f} | {other} |")


if __name__ == "__main__":
    main()
