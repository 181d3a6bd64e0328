"""Fetches spent on each distinct page: plain Scrapy, ours without and with learned URL rules.

    python benchmarks/rules.py [--site NAME ...] [--crawlers NAME ...] [--cap N] [--json] [--write]
    python benchmarks/rules.py --record FILE --site NAME [--cap N]
    python benchmarks/rules.py --simulate [NAME ...] [--recordings DIR] [--seeds N] [--jobs N]
                               [--json] [--write]

Every crawl is a process of its own with the same cap. Sites that this machine cannot serve are
left out with a word. --record keeps a crawl without learning as a file; --simulate lets the
learner run on made sites and on such files, without a network. Nothing else is written unless
--write is given.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from crawl_peers.runs import RunFailedError  # noqa: E402
from crawl_peers.tables import machine, rewrite  # noqa: E402
from rules_peers import simulating  # noqa: E402
from rules_peers.curves import Figures, figures  # noqa: E402
from rules_peers.drawing import drawing  # noqa: E402
from rules_peers.runs import CRAWLERS, crawl, record  # noqa: E402
from rules_peers.sites import SITES  # noqa: E402

from tests.sites.packages import SiteUnavailableError  # noqa: E402

DOCUMENT = ROOT / "docs" / "benchmarks.md"
PLOT = ROOT / "docs" / "rules.svg"
BEGIN = "<!-- written by benchmarks/rules.py -->"
END = "<!-- end of benchmarks/rules.py -->"
CAP = 8_000


CAPS = {"traps": 4_000, "gitweb": 1_000}
"""Sites that end nowhere, or answer some ten requests a second, have a cap of their own."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--site", nargs="+", default=list(SITES), choices=list(SITES))
    parser.add_argument("--crawlers", nargs="+", default=CRAWLERS, choices=CRAWLERS)
    parser.add_argument("--cap", type=int, default=CAP, metavar="N", help=f"default {CAP:,}")
    parser.add_argument("--json", action="store_true", help="figures and curves as JSON, no table")
    parser.add_argument("--write", action="store_true", help=f"renew {DOCUMENT.relative_to(ROOT)}")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep a crawl of one --site")
    parser.add_argument(
        "--simulate", nargs="*", metavar="NAME", help="crawl made sites; patterns such as '*3 %% *'"
    )
    parser.add_argument("--recordings", type=Path, metavar="DIR", help="and those recorded there")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="crawls of a made site")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes that simulate")
    arguments = parser.parse_args()
    if arguments.record and len(arguments.site) != 1:
        parser.error("--record wants one --site")
    return arguments


def _measure(site: str, crawlers: list[str], cap: int) -> list[Figures]:
    runs = []
    with SITES[site]() as served:
        for crawler in crawlers:
            runs.append(crawl(crawler, served, cap))
            distinct = len({name for name in runs[-1].names if name is not None})
            words = f"{site}, {crawler}: {len(runs[-1].names):,} fetches, {distinct:,} pages"
            print(words, file=sys.stderr)
    return figures(runs, cap)


def _table(rows: list[Figures]) -> str:
    lines = [
        "| site | crawler | fetches | distinct pages | fetches a page | area under the curve "
        "| ended by itself | CPU s |",
        "|---|---|--:|--:|--:|--:|---|--:|",
    ]
    lines += [
        f"| {row.site} | {row.crawler} | {row.fetches:,} | {row.distinct:,} "
        f"| {row.fetches_a_page:.2f} | {row.area:.3f} | {'yes' if row.has_ended else 'no'} "
        f"| {row.cpu_secs:.1f} |"
        for row in rows
    ]
    return "\n".join(lines)


def _write(rows: list[Figures], cap: int) -> None:
    PLOT.write_text(drawing(rows), encoding="utf-8")
    measured = f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}; one run each, cap {cap:,}"
    smaller = [f"{site} {least:,}" for site, least in CAPS.items() if least < cap]
    measured += f" ({', '.join(smaller)})." if smaller else "."
    plot = f"![Distinct pages over fetches]({PLOT.name})"
    section = "\n\n".join([BEGIN, measured, _table(rows), plot, END])
    rewrite(DOCUMENT, section)


def _record(site: str, cap: int, file: Path) -> int:
    try:
        with SITES[site]() as served:
            recording = record(served, min(cap, CAPS.get(site, cap)), file)
    except (SiteUnavailableError, RunFailedError) as error:
        print(f"{site}: {error}", file=sys.stderr)
        return 1
    print(f"{file}: {len(recording.pages):,} pages, {len(recording.truth):,} of them distinct")
    return 0


def _simulate(arguments: argparse.Namespace) -> int:
    sites: list[str | Path] = [
        *simulating.chosen_names(arguments.simulate),
        *simulating.chosen_recordings(arguments.simulate, arguments.recordings),
    ]
    rows = []
    for row in simulating.rows(sites, arguments.seeds, arguments.jobs):
        rows.append(row)
        print(f"{row.site}: {row.fetches_a_page:.2f}, {row.lost} lost", file=sys.stderr)
    if not rows:
        print("no site has such a name", file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        print(simulating.table(rows))
    if arguments.write:
        rewrite(DOCUMENT, simulating.section(rows, arguments.seeds))
    return 0


def main() -> int:
    """Measure, print, and write if asked to."""
    arguments = _arguments()
    if arguments.simulate is not None:
        return _simulate(arguments)
    if arguments.record:
        return _record(arguments.site[0], arguments.cap, arguments.record)
    rows: list[Figures] = []
    for site in arguments.site:
        try:
            cap = min(arguments.cap, CAPS.get(site, arguments.cap))
            rows += _measure(site, arguments.crawlers, cap)
        except SiteUnavailableError as lack:
            print(f"{site} is left out: {lack}", file=sys.stderr)
        except RunFailedError as error:
            print(f"{site}: {error}", file=sys.stderr)
            return 1
    if not rows:
        return 1
    print(json.dumps([asdict(row) for row in rows]) if arguments.json else _table(rows))
    if arguments.write:
        _write(rows, arguments.cap)
    return 0


if __name__ == "__main__":
    sys.exit(main())
