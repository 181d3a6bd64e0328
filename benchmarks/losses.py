"""Pages lost, pages kept twice and standstills of the event loop, on made sites.

    python benchmarks/losses.py [--before DIR] [--case WORDS ...] [--json] [--write]

Each site is served on this machine and crawled by `scrapy crawl site` of this project and, with
--before, of another checkout of it. What a page is, the site knows: lost is what no kept page
shows, kept twice what more than one does. Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from losses_sites import standstill  # noqa: E402
from losses_sites.cases import CASES, Case  # noqa: E402
from measuring import write  # noqa: E402

from tests.crawls.kills import workers_of  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from losses_sites.cases import Served, Stopped
    from losses_sites.served import Measured

TIMEOUT_SECS = 600.0
STOP_SECS = 6.0
LONG_SECS = 0.5
"""No standstill is to be longer."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the crawls of one site.

    Attributes:
        pages: Pages of the truth, after the last crawl.
        lost: Pages of the truth that no kept page shows, after the worst crawl.
        twice: Kept pages beyond the first that show a page again, after the worst crawl.
        fetches: Requests for pages that the site answered.
        wall_secs: The longest standstill of the event loop.
        collecting_secs: How much of it was spent on the collection of garbage.
        places: Functions in which it was, with the number of samples, the most frequent first.
        cpu_secs: The same in CPU time of its thread.
        exit_status: Of the last crawl; None where it was ended after ten minutes.
    """

    pages: int
    lost: int
    twice: int
    fetches: int
    wall_secs: float
    cpu_secs: float
    collecting_secs: float
    places: Sequence[tuple[str, int]]
    exit_status: int | None


def _environment(project: Path, measured: Path, site: Measured) -> dict[str, str]:
    own = {
        **site.environment,
        "PYTHONPATH": os.pathsep.join([str(project), str(ROOT / "benchmarks")]),
        standstill.FILE_VARIABLE: str(measured),
    }
    return {**os.environ, **own}


def _crawl(
    project: Path, case: Case[Served], site: Measured, folder: Path, visit: int
) -> int | None:
    """Run one crawl to its end; return its exit status, or None where it had to be killed."""
    extensions = json.dumps({f"{standstill.__name__}.{standstill.Standstill.__name__}": 0})
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site.seeds}"]
    command += ["-a", "sitemaps=no", *case.visits[visit], "-s", f"JOBDIR={folder / 'job'}"]
    command += ["-s", "LOG_LEVEL=ERROR", "-s", f"EXTENSIONS={extensions}"]
    environment = _environment(project, folder / f"measured{visit}.json", site)
    with (folder / "said").open("ab") as said:
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=said, stderr=said)
        try:
            if case.stopped and not visit:
                _stop_a_while(process, site, case.stopped)
            return process.wait(TIMEOUT_SECS)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()
            process.wait()


def _stop_a_while(process: subprocess.Popen[bytes], site: Measured, stopped: Stopped) -> None:
    half = len(site.truth) // 2
    while site.total < half and process.poll() is None:
        time.sleep(0.01)
    if process.poll() is not None:
        return
    own = [] if stopped == "workers" else [process.pid]
    pids = own if stopped == "crawl" else [*own, *workers_of(process.pid)]
    _signal(pids, signal.SIGSTOP)
    time.sleep(STOP_SECS)
    _signal(pids, signal.SIGCONT)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _kept(project: Path, folder: Path, site: Measured) -> list[str]:
    """Return the URLs of the kept pages."""
    command = [sys.executable, "-m", "scrapy", "pages", str(folder / "job"), "--verdict", "kept"]
    environment = _environment(project, folder / "unused", site)
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=True
    )
    return [json.loads(line)["url"] for line in done.stdout.splitlines()]


def measure(project: Path, case: Case[Served]) -> Outcome:
    """Serve a site, make its crawls by a checkout of the project, and count."""
    with tempfile.TemporaryDirectory(prefix="losses-") as temporary, case.site() as site:
        folder = Path(temporary)
        status: int | None = 0
        lost = twice = 0
        for visit in range(len(case.visits)):
            if case.change is not None:
                case.change(site, visit)
            status = _crawl(project, case, site, folder, visit)
            kept = Counter(filter(None, map(site.content_of, _kept(project, folder, site))))
            if visit in case.uncounted:
                continue
            lost = max(lost, len(site.truth - kept.keys()))
            twice = max(twice, kept.total() - len(kept))
        files = folder.glob("measured*.json")
        measured = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        longest: dict[str, Any] = max(measured, key=lambda one: one["wall_secs"], default={})
        return Outcome(
            pages=len(site.truth),
            lost=lost,
            twice=twice,
            fetches=site.total,
            wall_secs=longest.get("wall_secs", float("nan")),
            cpu_secs=max((one["cpu_secs"] for one in measured), default=float("nan")),
            collecting_secs=longest.get("collecting_secs", float("nan")),
            places=longest.get("places", ()),
            exit_status=status,
        )


def _table(rows: Sequence[tuple[str, str, Outcome]]) -> str:
    lines = [
        "| site | crawled by | pages | lost | kept twice | fetches "
        "| longest standstill, s | in CPU s | where, if above 0.5 s | exit status |",
        "|---|---|--:|--:|--:|--:|--:|--:|---|--:|",
    ]
    for name, by, one in rows:
        status = "ended after 600 s" if one.exit_status is None else one.exit_status
        lines.append(
            f"| {name} | {by} | {one.pages:,} | {one.lost:,} | {one.twice:,} | {one.fetches:,} "
            f"| {one.wall_secs:.2f} | {one.cpu_secs:.2f} | {_where(one)} | {status} |"
        )
    return "\n".join(lines)


def _where(one: Outcome) -> str:
    """Name where the longest standstill was seen most often, with its share."""
    if one.wall_secs >= LONG_SECS and one.collecting_secs > one.wall_secs / 2:
        return "collection of garbage"
    if not one.places or one.wall_secs < LONG_SECS:
        return ""
    place, samples = one.places[0]
    return f"`{place}`, {samples / sum(count for _, count in one.places):.0%}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--before", type=Path, metavar="DIR", help="another checkout, beside this")
    parser.add_argument("--case", nargs="+", metavar="WORDS", help="sites whose names hold these")
    parser.add_argument("--json", action="store_true", help="outcomes as JSON, no table")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    return parser.parse_args()


def main() -> int:
    """Measure, print, and write if asked to."""
    arguments = _arguments()
    wanted = arguments.case or [""]
    cases = [case for case in CASES if any(words in case.name for words in wanted)]
    if not cases:
        print(f"no such site; there are: {'; '.join(c.name for c in CASES)}", file=sys.stderr)
        return 2
    projects = {"this state": ROOT}
    if arguments.before is not None:
        projects = {"before": arguments.before.resolve(), **projects}
    rows = []
    for case in cases:
        for by, project in projects.items():
            outcome = measure(project, case)
            print(f"{case.name}, {by}: {outcome}", file=sys.stderr)
            rows.append((case.name, by, outcome))
    if arguments.json:
        print(json.dumps([{"site": name, "by": by, **asdict(one)} for name, by, one in rows]))
        return 0
    table = _table(rows)
    print(table)
    if arguments.write:
        write("losses.py", [table], "one run each.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
