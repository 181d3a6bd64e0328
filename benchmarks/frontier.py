"""The frontier beside Scrapy's: queues and seen sets at several sizes, and whole crawls.

    python benchmarks/frontier.py [--urls 100000 1000000 10000000] [--hosts 1 1000] [--repeat N]
                                  [--site NAME] [--json] [--write]

Every queue and every set runs in a process of its own. Scrapy's SQLite queue, which commits
each request, gets only so many as it can bear. The crawls take turns on one site, served by
nginx on this machine. Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from crawl_peers.tables import machine, rewrite  # noqa: E402
from frontier_peers import queues, seen  # noqa: E402
from frontier_peers.processes import Figures, in_a_process  # noqa: E402
from frontier_peers.whole import (  # noqa: E402
    ALL_CPU,
    PAGES_PER_SEC,
    SCHEDULERS,
    SCRAPYS,
    CrawlFailedError,
    crawl,
)

from tests.sites.nginx import debian_site  # noqa: E402
from tests.sites.packages import PACKAGES, SiteUnavailableError  # noqa: E402

DOCUMENT = ROOT / "docs" / "benchmarks.md"
BEGIN = "<!-- written by benchmarks/frontier.py -->"
END = "<!-- end of benchmarks/frontier.py -->"

BEARABLE = {"Scrapy, SQLite": 1_000}
RATIOS = {
    PAGES_PER_SEC: "the same, over Scrapy's",
    ALL_CPU: "all CPU a page, over Scrapy's",
}
WANTED_RATE, WANTED_MB, WANTED_SPEED = 20_000, 300, 0.95

Results = dict[str, list[tuple[str, Figures]]]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--urls", nargs="*", type=int, default=[100_000, 1_000_000], metavar="N")
    parser.add_argument("--hosts", nargs="+", type=int, default=[1, 1_000], metavar="N")
    parser.add_argument("--site", default="sqlite3-doc", choices=sorted(PACKAGES))
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="crawls of each, or 0")
    parser.add_argument("--json", action="store_true", help="figures as JSON, no tables")
    parser.add_argument("--write", action="store_true", help=f"renew {DOCUMENT.relative_to(ROOT)}")
    return parser.parse_args()


def _measure_queues(sizes: list[int], hosts: list[int]) -> list[tuple[str, Figures]]:
    rows = []
    for urls in sizes:
        for name in queues.PEERS:
            # A queue of Scrapy's is for one host; only ours knows of several.
            for count in hosts if name == "ours" else [1]:
                number = min(urls, BEARABLE.get(name, urls))
                label = f"{number:,} | {name}" + (f", {count:,} hosts" if name == "ours" else "")
                rows.append((label, in_a_process(queues.measure, name, number, count)))
                _say(rows[-1])
    return rows


def _measure_sets(sizes: list[int]) -> list[tuple[str, Figures]]:
    rows = []
    for urls in sizes:
        for name in seen.SETS:
            rows.append((f"{urls:,} | {name}", in_a_process(seen.measure, name, urls)))
            _say(rows[-1])
    return rows


def _measure_crawls(site: str, repeat: int) -> list[tuple[str, Figures]]:
    """The medians of crawls that take turns, so that a slow minute hits all of them."""
    runs: dict[str, list[Figures]] = defaultdict(list)
    with debian_site(site) as served:
        for _ in range(repeat):
            for scheduler in SCHEDULERS:
                runs[scheduler].append(crawl(scheduler, served.url))
                _say((scheduler, runs[scheduler][-1]))
    return [
        (f"{site} | {scheduler}", _medians(some, runs[SCRAPYS])) for scheduler, some in runs.items()
    ]


def _medians(some: list[Figures], of_scrapy: list[Figures]) -> Figures:
    """Medians, with those of the ratios to Scrapy's run of the same turn."""
    figures = {name: median(one[name] for one in some) for name in some[0]}
    for name, ratio in RATIOS.items():
        turns = zip(some, of_scrapy, strict=True)
        figures[ratio] = median(one[name] / scrapys[name] for one, scrapys in turns)
    return figures


def _say(row: tuple[str, Figures]) -> None:
    figures = ", ".join(f"{name} {value:,.1f}" for name, value in row[1].items())
    print(f"{row[0]}: {figures}", file=sys.stderr)


def _table(first: str, rows: list[tuple[str, Figures]]) -> str:
    names = list(rows[0][1])
    lines = [
        f"| {first} | {' | '.join(names)} |",
        f"|{'---|' * (first.count('|') + 1)}{'--:|' * len(names)}",
    ]
    for label, figures in rows:
        numbers = [_readable(figures[name]) for name in names]
        lines.append(f"| {label} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def _readable(figure: float) -> str:
    digits = 0 if figure >= 100 else 1 if figure >= 10 else 2
    return f"{figure:,.{digits}f}"


def _parts(results: Results) -> list[str]:
    firsts = {"queues": "requests | queue", "sets": "URLs | set", "crawls": "site | scheduler"}
    parts = [_table(firsts[name], rows) for name, rows in results.items() if rows]
    wanted = (
        f"{WANTED_RATE:,} pushes/s and taken/s, at most {WANTED_MB} MB at 10,000,000 queued "
        f"requests, at least {WANTED_SPEED} times the pages/s of a crawl with Scrapy's scheduler"
    )
    return [*parts, f"Wanted: {wanted}."]


def _write(parts: list[str]) -> None:
    """Replace the marked section of the document.

    Raises:
        ValueError: The document has not both marks.
    """
    measured = f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}."
    rewrite(DOCUMENT, "\n\n".join([BEGIN, measured, *parts, END]))


def main() -> int:
    """Measure, print, and write if asked to."""
    arguments = _arguments()
    try:
        results = {
            "queues": _measure_queues(arguments.urls, arguments.hosts),
            "sets": _measure_sets(arguments.urls),
            "crawls": _measure_crawls(arguments.site, arguments.repeat) if arguments.repeat else [],
        }
    except (SiteUnavailableError, CrawlFailedError) as error:
        print(error, file=sys.stderr)
        return 1
    parts = _parts(results)
    print(json.dumps(results, indent=2) if arguments.json else "\n\n".join(parts))
    if arguments.write:
        _write(parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
