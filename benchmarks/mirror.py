"""Mirrors of real documentation: wget, httrack, and ours.

    python benchmarks/mirror.py [--sites NAME ...] [--mirrors NAME ...] [--cap N] [--repeat N]
                                [--json] [--write]
    python benchmarks/mirror.py --large [--pages N] [--cases PART ...] [--write]
    python benchmarks/mirror.py --themes [NAME ...] [--opened N] [--write]

All take turns on each site; with --large ours alone mirrors what is large, once each. With --themes
documentation of several generators is mirrored, and our mirror opened in Chromium beside the site.
A site with duplicates ends nowhere for most, so that it has a cap of pages. What this machine lacks
is left out with a word. Nothing is written unless --write is given. Other sites than those by
default have a table of their own in the document.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from crawl_peers.runs import RunFailedError  # noqa: E402
from crawl_peers.tables import machine, machine_line, rewrite  # noqa: E402
from mirror_peers.large import PAGES, cases, measure, table  # noqa: E402
from mirror_peers.mirrors import MIRRORS, is_there  # noqa: E402
from mirror_peers.runs import Run, run_mirror  # noqa: E402
from mirror_peers.sites import DUPLICATES, SITES, original  # noqa: E402
from mirror_peers.summary import cost_table, figures, ratios_table, tree_table  # noqa: E402
from mirror_peers.themes import THEMES, look_at_theme, themes_table  # noqa: E402

from tests.sites.packages import SiteUnavailableError  # noqa: E402

DOCUMENT = ROOT / "docs" / "benchmarks.md"
BEGIN_THEMES = "<!-- written by benchmarks/mirror.py --themes -->"
END_THEMES = "<!-- end of benchmarks/mirror.py --themes -->"
OPENED = 10
BEGIN_LARGE = "<!-- written by benchmarks/mirror.py --large -->"
END_LARGE = "<!-- end of benchmarks/mirror.py --large -->"
DEFAULT_SITES = ("python3.11-doc", "openjdk-17-doc", "python3.11-doc" + DUPLICATES)
CAP = 2_000
MAX_SECS = 900.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sites", nargs="+", default=DEFAULT_SITES, choices=SITES)
    parser.add_argument("--mirrors", nargs="+", default=MIRRORS, choices=MIRRORS)
    help_cap = f"pages of a site with duplicates, default {CAP:,}"
    parser.add_argument("--cap", type=int, default=CAP, metavar="N", help=help_cap)
    help_secs = f"end a mirror after so long, default {MAX_SECS:.0f}"
    parser.add_argument("--max-secs", type=float, default=MAX_SECS, metavar="N", help=help_secs)
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="default 3")
    help_themes = "open mirrors of these generators' documentation, default all"
    parser.add_argument("--themes", nargs="*", choices=THEMES, metavar="NAME", help=help_themes)
    help_opened = f"pages that are opened with --themes, default {OPENED}"
    parser.add_argument("--opened", type=int, default=OPENED, metavar="N", help=help_opened)
    parser.add_argument("--large", action="store_true", help="large files, many files and pages")
    help_pages = f"pages of the largest site of --large, default {PAGES:,}"
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N", help=help_pages)
    help_cases = "those whose site and options contain one of these texts"
    parser.add_argument("--cases", nargs="+", default=[""], metavar="PART", help=help_cases)
    parser.add_argument("--json", action="store_true", help="every run as JSON, no tables")
    parser.add_argument("--write", action="store_true", help=f"renew {DOCUMENT.relative_to(ROOT)}")
    return parser.parse_args()


def _measure(name: str, mirrors: list[str], arguments: argparse.Namespace) -> list[Run]:
    """Run everything on a site, the mirrors by turns, so that a slow minute hits them all."""
    runs = []
    with original(name) as site:
        cap = arguments.cap if name.endswith(DUPLICATES) else None
        for _ in range(arguments.repeat):
            for mirror in mirrors:
                run = run_mirror(mirror, site, cap, arguments.max_secs)
                words = f"{name}, {mirror}: {run.tree.distinct:,} pages in {run.wall_secs:.1f} s"
                print(words, file=sys.stderr)
                runs.append(run)
    return runs


def _tables(runs: list[Run]) -> list[str]:
    rows = figures(runs)
    made = [cost_table(rows), tree_table(rows), ratios_table(rows)]
    return [table for table in made if table]


def _section(tables: list[str], arguments: argparse.Namespace) -> str:
    measured = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}; medians of {arguments.repeat}, "
        f"cap {arguments.cap:,} where there are duplicates."
    )
    called = "benchmarks/mirror.py"
    if tuple(arguments.sites) != DEFAULT_SITES:
        called += f" --sites {' '.join(map(shlex.quote, arguments.sites))}"
    begin, end = f"<!-- written by {called} -->", f"<!-- end of {called} -->"
    return "\n\n".join([begin, measured, *tables, end])


def _measure_large(arguments: argparse.Namespace) -> int:
    costs = []
    wanted = [
        case
        for case in cases(arguments.pages)
        if any(part in f"{case.site} {' '.join(case.options)}" for part in arguments.cases)
    ]
    try:
        for cost in measure(wanted, arguments.pages):
            print(cost, file=sys.stderr)
            costs.append(cost)
    except (SiteUnavailableError, RunFailedError) as error:
        print(error, file=sys.stderr)
        return 1
    print(table(costs))
    if arguments.write:
        written = [BEGIN_LARGE, machine_line("one run each"), table(costs), END_LARGE]
        rewrite(DOCUMENT, "\n\n".join(written))
    return 0


def _themes(arguments: argparse.Namespace) -> int:
    """Open mirrors of all chosen themes, print what was found, and write it if asked to."""
    rows = []
    for name in arguments.themes or THEMES:
        try:
            rows.append(look_at_theme(name, arguments.opened, arguments.max_secs))
        except SiteUnavailableError as lack:
            print(f"{name} is left out: {lack}", file=sys.stderr)
            continue
        except RunFailedError as error:
            print(error, file=sys.stderr)
            return 1
        print(rows[-1], file=sys.stderr)
    table = themes_table(rows)
    print(table)
    if arguments.write:
        how = f"one run each, {arguments.opened} pages opened"
        rewrite(DOCUMENT, "\n\n".join([BEGIN_THEMES, machine_line(how), table, END_THEMES]))
    return 0 if rows else 1


def main() -> int:
    """Measure, print, and write if asked to."""
    arguments = _arguments()
    if arguments.themes is not None:
        return _themes(arguments)
    if arguments.large:
        return _measure_large(arguments)
    mirrors = [one for one in arguments.mirrors if is_there(one)]
    for missing in sorted(set(arguments.mirrors) - set(mirrors)):
        print(f"{missing} is not installed: left out", file=sys.stderr)
    runs: list[Run] = []
    for name in arguments.sites:
        try:
            runs += _measure(name, mirrors, arguments)
        except SiteUnavailableError as lack:
            print(f"{name} is left out: {lack}", file=sys.stderr)
        except RunFailedError as error:
            print(error, file=sys.stderr)
            return 1
    if not runs:
        return 1
    tables = _tables(runs)
    print(json.dumps([asdict(run) for run in runs]) if arguments.json else "\n\n".join(tables))
    if arguments.write:
        rewrite(DOCUMENT, _section(tables, arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
