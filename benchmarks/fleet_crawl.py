"""Pages a second of a fleet of 1, 2 and 4 workers, of a crawl alone, and of four of a part each.

    python benchmarks/fleet_crawl.py [--pages N] [--hosts N] [--workers N ...] [--apart N]
                                     [--repeat N] [--json] [--write] [--beside WORDS]

A made site on loopback addresses answers after a while, as sites do; all take turns. It says what
the workers, and what Redis, cost in CPU time, since this machine's processors serve them all.
Crawls that know nothing of each other, of a part of the hosts each, say what of a fleet's price
comes of its processes. Pages a second are counted from when every worker has asked for a page, so
that they say nothing of their start. A page that is missing at the end, or a worker that fails,
ends it. Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from crawl_peers.tables import machine, rewrite  # noqa: E402
from process_watch import ProcessWatch  # noqa: E402

from tests.servers.redis import RedisServer, redis_server  # noqa: E402
from tests.sites.hosts import Asked, ManyHosts  # noqa: E402

DOCUMENT = ROOT / "docs" / "benchmarks.md"
BEGIN = "<!-- written by benchmarks/fleet_crawl.py -->"
END = "<!-- end of benchmarks/fleet_crawl.py -->"
ALONE = 0
MAX_SECS = 600.0


@dataclass(frozen=True, slots=True)
class Crawls:
    """Crawls that run at the same time: workers of a fleet, or each with a part of the hosts."""

    count: int
    is_fleet: bool

    def __str__(self) -> str:
        if self.is_fleet:
            return f"a fleet of {self.count}"
        if self.count == 1:
            return "a crawl that is alone"
        return f"{self.count} crawls alone, of a part each"


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl of all pages.

    Attributes:
        crawls: What ran.
        is_start: Whether it was only to tell what the start costs.
        pages: That were fetched, each counted once.
        again: Requests for pages that were fetched before.
        pages_per_sec: From when all workers had asked for one; None: one of them asked for none.
        cpu_secs: Of all workers with their readers.
        redis_cpu_secs: Of Redis.
        reads: How often Redis read from its clients: once for a batch of commands, or a few times.
        scripts: Scripts that its clients called.
        commands: That Redis carried out, those inside scripts too.
        redis_bytes: What it held at the end.
    """

    crawls: Crawls
    is_start: bool
    pages: int
    again: int
    pages_per_sec: float | None
    cpu_secs: float
    redis_cpu_secs: float
    reads: int
    scripts: int
    commands: int
    redis_bytes: int


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=2_000, metavar="N", help="default 2,000")
    parser.add_argument("--hosts", type=int, default=16, metavar="N", help="default 16")
    parser.add_argument("--workers", type=int, nargs="+", default=[ALONE, 1, 2, 4], metavar="N")
    parser.add_argument("--apart", type=int, default=4, metavar="N", help="default 4; 0: none")
    parser.add_argument("--answer-secs", type=float, default=0.05, metavar="N", help="default 0.05")
    parser.add_argument("--repeat", type=int, default=2, metavar="N", help="default 2")
    parser.add_argument(
        "--beside", default="", metavar="WORDS", help="what else ran, for the table"
    )
    parser.add_argument("--json", action="store_true", help="every run as JSON, no table")
    parser.add_argument("--write", action="store_true", help=f"renew {DOCUMENT.relative_to(ROOT)}")
    arguments = parser.parse_args()
    if arguments.apart and (arguments.hosts % arguments.apart or arguments.pages % arguments.apart):
        parser.error("--hosts and --pages must be multiples of --apart")
    if arguments.pages <= arguments.hosts:
        parser.error("--pages must be more than --hosts, which the start is measured with")
    return arguments


def _command(site: ManyHosts, url: str, folder: Path, *, is_fleet: bool) -> list[str]:
    settings = {"JOBDIR": folder, "READING_WORKERS": 1, "DOWNLOAD_DELAY": 0}
    settings["USER_AGENT"] = folder.name
    slots = {f"127.0.0.{n}": {"delay": 0, "concurrency": 2} for n in range(1, site.hosts + 1)}
    settings |= {"DOWNLOAD_SLOTS": json.dumps(slots), "PROGRESS_ENABLED": False}
    if is_fleet:
        settings |= {"FLEET_ENABLED": True, "FLEET_REDIS_URL": url, "FLEET_NAME": "bench"}
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    seeds = ["-a", f"url={site.seeds}", "-a", "scope=host"]
    return [sys.executable, "-m", "scrapy", "crawl", "site", *seeds, *options]


def _run(arguments: argparse.Namespace, crawls: Crawls, *, is_start: bool) -> Run:
    pages = arguments.hosts if is_start else arguments.pages
    parts = 1 if crawls.is_fleet else crawls.count
    hosts, secs = arguments.hosts // parts, arguments.answer_secs
    with (
        ExitStack() as stack,
        tempfile.TemporaryDirectory() as folder,
        redis_server() as server,
    ):
        sites = [
            stack.enter_context(ManyHosts(pages // parts, hosts, answer_secs=secs))
            for _ in range(parts)
        ]
        with ProcessWatch() as watch:
            _work([
                _command(
                    sites[number % parts],
                    server.url,
                    Path(folder, f"worker-{number}"),
                    is_fleet=crawls.is_fleet,
                )
                for number in range(crawls.count)
            ])  # fmt: skip
        asked = [site.asked for site in sites]
        fetched = sum(len(site.counts) for site in sites)
        if fetched != pages:
            raise SystemExit(f"{crawls}: {fetched:,} of {pages:,} pages were fetched")
        return Run(
            crawls,
            is_start,
            fetched,
            sum(map(len, asked)) - fetched,
            _pages_per_sec(asked, crawls.count),
            watch.cpu_secs,
            *_of_redis(server),
        )


def _work(commands: list[list[str]]) -> None:
    """Run commands at the same time; one that fails ends those that were started after it."""
    with ExitStack() as stack:
        processes = []
        for command in commands:
            process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)  # of one that has ended it does nothing
            processes.append(process)
        for process in processes:
            if process.wait(MAX_SECS):
                raise SystemExit(f"a worker ended with {process.returncode}")


def _pages_per_sec(sites: list[list[Asked]], workers: int) -> float | None:
    """Return how many pages of sites were fetched a second from when all workers had asked once."""
    firsts: dict[str, float] = {}
    asked = [(site, one) for site, of_site in enumerate(sites) for one in of_site]
    for _, one in asked:
        firsts[one.agent] = min(one.began, firsts.get(one.agent, one.began))
    if len(firsts) < workers:
        return None
    since = max(firsts.values())
    pages = {(site, one.host, one.path) for site, one in asked if one.began >= since}
    return len(pages) / (max(one.ended for _, one in asked) - since)


def _of_redis(server: RedisServer) -> tuple[float, int, int, int, int]:
    with server.client() as client:
        about = client.info("everything")
    assert isinstance(about, dict)
    cpu_secs = about["used_cpu_user"] + about["used_cpu_sys"]
    commands, reads = about["total_commands_processed"], about["total_reads_processed"]
    scripts = sum(
        about.get(f"cmdstat_{name}", {}).get("calls", 0) for name in ("evalsha", "eval", "fcall")
    )
    return cpu_secs, reads, scripts, commands, about["used_memory"]


def _measure(arguments: argparse.Namespace) -> list[Run]:
    """All take turns, so that a slow minute hits them all."""
    kinds = [Crawls(max(number, 1), number != ALONE) for number in arguments.workers]
    kinds += [Crawls(arguments.apart, is_fleet=False)] if arguments.apart else []
    runs = []
    for _ in range(arguments.repeat):
        for crawls in kinds:
            for is_start in (True, False):
                run = _run(arguments, crawls, is_start=is_start)
                if not is_start and run.pages_per_sec is None:
                    raise SystemExit(f"{crawls}: a worker fetched nothing; take more --pages")
                said = f"{crawls}: {run.pages:,} pages in {run.cpu_secs:.1f} CPU s of the workers"
                print(f"{said}; {run.again:,} asked for again", file=sys.stderr)
                runs.append(run)
    return runs


def _table(runs: list[Run]) -> str:
    lines = [
        "| | pages/s | CPU s of workers / 1,000 pages | but for their start "
        "| with Redis, times the first line | but for the start | CPU s of Redis / 1,000 pages "
        "| batches read a page | scripts called a page "
        "| commands a page, those in scripts too | Redis holds, bytes a page |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    first: tuple[float, float] | None = None
    for crawls in dict.fromkeys(run.crawls for run in runs):
        own = [run for run in runs if run.crawls == crawls and not run.is_start]
        starts = [run for run in runs if run.crawls == crawls and run.is_start]
        start_secs = statistics.median(run.cpu_secs for run in starts)
        rate = statistics.median(run.pages_per_sec or 0.0 for run in own)
        cpu = statistics.median(1_000 * run.cpu_secs / run.pages for run in own)
        further = statistics.median(
            1_000 * (run.cpu_secs - start_secs) / (run.pages - starts[0].pages) for run in own
        )
        redis = statistics.median(1_000 * run.redis_cpu_secs / run.pages for run in own)
        redis *= crawls.is_fleet
        first = first or (cpu, further)
        times = f"{(cpu + redis) / first[0]:.2f} | {(further + redis) / first[1]:.2f}"
        line = f"| {crawls} | {rate:.0f} | {cpu:.1f} | {further:.1f} | {times} |"
        if not crawls.is_fleet:
            lines.append(f"{line} | | | | |")
            continue
        each = [
            statistics.median(getattr(run, name) / run.pages for run in own)
            for name in ("reads", "scripts", "commands", "redis_bytes")
        ]
        lines.append(f"{line} {redis:.2f} | {' | '.join(f'{one:,.1f}' for one in each)} |")
    return "\n".join(lines)


def _section(runs: list[Run], arguments: argparse.Namespace) -> str:
    measured = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}; medians of {arguments.repeat}; "
        f"{arguments.pages:,} pages on {arguments.hosts} hosts, which answer after "
        f"{arguments.answer_secs * 1000:.0f} ms and are asked two things at a time; the start is "
        f"what a crawl of {arguments.hosts} pages costs by as many workers."
        + (f" {arguments.beside}" if arguments.beside else "")
    )
    return "\n\n".join([BEGIN, measured, _table(runs), END])


def main() -> None:
    """Measure and print, or write."""
    arguments = _arguments()
    started = time.monotonic()
    runs = _measure(arguments)
    if arguments.json:
        print(json.dumps([asdict(run) for run in runs], indent=2))
        return
    print(_table(runs))
    if arguments.write:
        rewrite(DOCUMENT, _section(runs, arguments))
    print(f"{time.monotonic() - started:.0f} s in all", file=sys.stderr)


if __name__ == "__main__":
    main()
