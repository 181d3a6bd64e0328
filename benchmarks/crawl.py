"""Whole crawls of real documentation, ours beside plain Scrapy, in the same run.

Three crawlers take turns on each site, served by nginx on this machine: plain Scrapy that
follows links; the same that also extracts the text of each page; ours, which extracts,
compares and stores. With --pages, ours alone crawls a made site of so many pages, and the
table compares its tenths. Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from crawl_peers.large import large_section, made_site, tenths_table  # noqa: E402
from crawl_peers.runs import CRAWLERS, OURS, Run, RunFailedError, crawl  # noqa: E402
from crawl_peers.summary import figures, ratios, together, uneven  # noqa: E402
from crawl_peers.tables import figures_table, ratios_table, rewrite, section  # noqa: E402

from tests.sites.nginx import debian_site  # noqa: E402
from tests.sites.packages import PACKAGES, SiteUnavailableError  # noqa: E402

DOCUMENT = ROOT / "docs" / "benchmarks.md"
MIN_PAGES = 2_000
SITES = ("python3.11-doc", "sqlite3-doc", "apache2-doc")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sites", nargs="+", default=SITES, choices=sorted(PACKAGES))
    parser.add_argument("--crawlers", nargs="+", default=CRAWLERS, choices=CRAWLERS)
    parser.add_argument("--max-pages", type=int, metavar="N", help="stop each crawl after N")
    parser.add_argument(
        "--pages", type=int, metavar="N", help="a made site of N pages, at least 2,000"
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="default 3")
    parser.add_argument("--json", action="store_true", help="every run as JSON, no tables")
    parser.add_argument("--write", action="store_true", help=f"renew {DOCUMENT.relative_to(ROOT)}")
    arguments = parser.parse_args()
    if arguments.pages is not None and arguments.pages < MIN_PAGES:
        parser.error(f"--pages must be at least {MIN_PAGES:,}, got {arguments.pages:,}")
    return arguments


def _measure(arguments: argparse.Namespace) -> list[Run]:
    """Run everything, the crawlers by turns, so that a slow minute hits them all."""
    runs = []
    for site in arguments.sites:
        with debian_site(site) as served:
            for _ in range(arguments.repeat):
                for crawler in arguments.crawlers:
                    run = crawl(crawler, site, served.url, arguments.max_pages)
                    words = f"{site}, {crawler}: {run.pages} pages in {run.crawl_secs:.1f} s"
                    print(words, file=sys.stderr)
                    runs.append(run)
    return runs


def _crawl_large(arguments: argparse.Namespace) -> int:
    try:
        with made_site(arguments.pages) as url:
            run = crawl(OURS, f"made site of {arguments.pages:,} pages", url)
    except (SiteUnavailableError, RunFailedError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(asdict(run)) if arguments.json else tenths_table(run))
    if run.pages != arguments.pages:
        print(f"{run.pages:,} of {arguments.pages:,} pages were fetched", file=sys.stderr)
        return 1
    if arguments.write:
        rewrite(DOCUMENT, large_section(run))
    return 0


def main() -> int:
    """Measure, print, and write if asked to."""
    arguments = _arguments()
    if arguments.pages is not None:
        return _crawl_large(arguments)
    try:
        runs = _measure(arguments)
    except (SiteUnavailableError, RunFailedError) as error:
        print(error, file=sys.stderr)
        return 1
    by_site = figures(runs)
    rows = by_site + together(by_site)
    compared = ratios(rows)
    if arguments.json:
        everything = {
            "runs": [asdict(one) for one in runs],
            "figures": [asdict(one) for one in rows],
            "ratios": [asdict(one) for one in compared],
        }
        print(json.dumps(everything))
        return 0
    tables = [figures_table(rows), ratios_table(compared)]
    print("\n\n".join(tables))
    faults = uneven(rows)
    print("".join(f"{fault}\n" for fault in faults), end="", file=sys.stderr)
    if faults:
        return 1
    if arguments.write:
        rewrite(DOCUMENT, section(arguments.repeat, arguments.max_pages, tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
