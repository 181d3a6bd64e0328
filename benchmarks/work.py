"""What a page costs the main process of a crawl, counted: calls, statements, rows, bytes.

    python benchmarks/work.py [--pin] [--write]

Two crawls: a made site of some thousand pages with copies, and Apache's manual. --pin renews the
ceilings of ``tests/crawls/test_work.py`` where a count has fallen. Nothing is written without it
or --write.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from measuring import write  # noqa: E402

from tests.crawls.work import ARTICLES, CopyingSite, Work, count_work, pin  # noqa: E402
from tests.sites.nginx import debian_site  # noqa: E402
from tests.sites.packages import SiteUnavailableError  # noqa: E402

MANUAL = "apache2-doc"
MODULES = 20


def crawls() -> dict[str, Work]:
    """Return the work of each crawl that this machine can do."""
    with tempfile.TemporaryDirectory() as folder:
        with CopyingSite(ARTICLES) as made:
            works = {"made": count_work(made.url, Path(folder) / "made")}
        try:
            with debian_site(MANUAL) as served:
                works[MANUAL] = count_work(served.url, Path(folder) / "manual")
        except SiteUnavailableError as error:
            print(f"{MANUAL} is left out: {error}", file=sys.stderr)
        return works


def tables(works: dict[str, Work]) -> list[str]:
    """Return the counts, and the modules of ours with the most calls, as Markdown."""
    columns = list(next(iter(works.values())).a_page)
    lines = [
        f"| site | pages | {' | '.join(columns)} | peak MB |",
        "|---|" + "--:|" * (len(columns) + 2),
    ]
    for name, work in works.items():
        cells = " | ".join(f"{value:,.0f}" for value in work.a_page.values())
        lines.append(f"| {name} | {work.pages:,} | {cells} | {work.peak >> 20} |")
    found = ["\n".join(lines)]
    for name, work in works.items():
        rows = [f"| {module} | {n:,.1f} |" for module, n in list(work.ours.items())[:MODULES]]
        found.append("\n".join([f"| calls a page, {name} | |", "|---|--:|", *rows]))
    return found


def main() -> int:
    """Count, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--pin", action="store_true", help="lower the ceilings of the tests")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    works = crawls()
    print("\n\n".join(tables(works)))
    if arguments.pin:
        pin(works["made"])
    if arguments.write:
        write("work.py", tables(works), "one crawl each.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
