"""What rendering costs: an application of many routes, crawled by ``scrapy crawl site``.

    python benchmarks/rendering.py [--routes 2000] [--write]

The application has one shell for all routes, filled by a script with data of the server; each
tenth route says what the one before it says but for a word. Memory is that of the crawl with all
its processes, pages that they share counted once, looked at each second.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from measuring import write  # noqa: E402

from crawler.rendering.browser import memory_mb, tree_of  # noqa: E402
from tests.crawls.command import report, scrapy, start_scrapy  # noqa: E402
from tests.sites.scripted import ScriptedSite  # noqa: E402

_DATA = "/data/"


class Sample(NamedTuple):
    """The memory of all processes once so many pages were shown."""

    pages: int
    memory_mb: float


class Crawled(NamedTuple):
    """What came of the crawl."""

    secs: float
    routes: int
    shown: int
    kept: int
    near: int
    samples: list[Sample]


def crawled(routes: int) -> Crawled:
    """Crawl the application and measure."""
    with tempfile.TemporaryDirectory() as folder, ScriptedSite(routes) as site:
        begun, samples = time.monotonic(), list[Sample]()
        process = start_scrapy(
            *("crawl", "site", "-a", f"url={site.url}", "-a", "render=auto"),
            *("-s", f"JOBDIR={folder}/job", "-s", "PROGRESS_ENABLED=False"),
        )
        while process.poll() is None:
            samples.append(Sample(_shown(site), memory_mb(tree_of(process.pid))))
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                continue
        _, errors = process.communicate()
        if process.returncode:
            raise SystemExit(errors[-2000:])
        secs = time.monotonic() - begun
        verdicts = report(Path(folder) / "job")["verdicts"]
        texts = scrapy("pages", f"{folder}/job").stdout.splitlines()
        with_text = sum(bool(json.loads(line)["text"]) for line in texts)
        return Crawled(secs, routes, _shown(site), with_text, verdicts["near_duplicate"], samples)


def _shown(site: ScriptedSite) -> int:
    """Return how many pages were shown: each asks for data once."""
    return sum(path.startswith(_DATA) for path in site.asked)


def tables(found: Crawled) -> list[str]:
    """Return what was measured, as Markdown."""
    rows = [
        ("routes", f"{found.routes:,}"),
        ("pages shown in the browser", f"{found.shown:,}"),
        ("pages kept with a text", f"{found.kept:,}"),
        ("near-duplicates", f"{found.near:,}"),
        ("seconds a page shown", f"{found.secs / found.shown:.2f}"),
    ]
    lines = ["| an application of scripts | |", "|---|--:|"]
    quarters = ["| pages shown | peak MB | median MB |", "|---|--:|--:|"]
    for number in range(4):
        first, last = (found.shown * part // 4 for part in (number, number + 1))
        sizes = [one.memory_mb for one in found.samples if first <= one.pages < last]
        quarters.append(
            f"| {first:,} to {last:,} | {max(sizes):,.0f} | {statistics.median(sizes):,.0f} |"
        )
    return ["\n".join([*lines, *(f"| {name} | {n} |" for name, n in rows)]), "\n".join(quarters)]


def main() -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--routes", type=int, default=2_000, help="routes of the application")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    found = tables(crawled(arguments.routes))
    print("\n\n".join(found))
    if arguments.write:
        write("rendering.py", found, "one crawl.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
