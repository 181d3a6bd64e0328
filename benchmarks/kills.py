"""Crawls of real documentation that are killed again and again: nothing lost, nothing kept twice.

    python benchmarks/kills.py [--site duplicates apache2-doc] [--kills N ...] [--seed N] [--write]

A site is crawled once without a stop and once by processes of which each but the last is ended by
SIGKILL after some pages, drawn at random. Both crawls must hold the same files of the site, every
text once, and `crawl-once verify` must find nothing. Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from measuring import write  # noqa: E402

from tests.sites.duplicates import duplicated_site, plain_path  # noqa: E402
from tests.sites.nginx import debian_site  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.nginx import ServedSite

TIMEOUT_SECS = 1_800.0
PACKAGES = {"duplicates": "sqlite3-doc", "apache2-doc": "apache2-doc"}
KILLS = {"duplicates": 40, "apache2-doc": 100}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a killed crawl holds, beside one that was never stopped.

    Attributes:
        files: Files of the site of which the crawl that was never stopped has a page.
        lost: Files among them of which the killed crawl has none.
        twice: Kept pages beyond the first with one and the same text.
        again: Requests beyond those of the crawl that was never stopped.
        verified: Exit status of ``crawl-once verify``: 0 where it finds nothing.
    """

    site: str
    kills: int
    files: int
    lost: int
    twice: int
    again: int
    verified: int


@contextmanager
def _served(site: str) -> Iterator[ServedSite]:
    serve = duplicated_site if site == "duplicates" else debian_site
    with serve(PACKAGES[site]) as served:
        yield served


def _scrapy(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _start(served: ServedSite, folder: Path) -> subprocess.Popen[bytes]:
    settings = ["-s", f"JOBDIR={folder}", "-s", "LOG_LEVEL=ERROR", "-s", "PROGRESS_ENABLED=0"]
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={served.url}"]
    with (folder.parent / "said").open("ab") as said:
        return subprocess.Popen([*command, *settings], cwd=ROOT, stdout=said, stderr=said)


def _finish(served: ServedSite, folder: Path) -> None:
    process = _start(served, folder)
    try:
        status = process.wait(TIMEOUT_SECS)
    finally:
        process.kill()
        process.wait()
    if status:
        raise SystemExit((folder.parent / "said").read_text(errors="replace")[-2_000:])


class _Requests:
    """Counts the requests in the server's log, of which each look reads only what is new."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._offset = self._lines = 0

    def count(self) -> int:
        """Return how many there were so far."""
        with self._log.open("rb") as file:
            file.seek(self._offset)
            added = file.read()
        self._offset += len(added)
        self._lines += added.count(b"\n")
        return self._lines


def _tell(began: float, words: str) -> None:
    print(f"{time.monotonic() - began:7.0f} s  {words}", file=sys.stderr, flush=True)


def _kill_again_and_again(
    served: ServedSite, folder: Path, kills: int, seed: int, requests: _Requests, began: float
) -> int:
    """Kill a crawl after a random number of requests each; return how often it was killed."""
    chance = random.Random(seed)
    whole = requests.count()
    for done in range(kills):
        # All kills together take three quarters of the requests of the crawl without a stop.
        wanted = chance.randrange(max(2, int(1.5 * whole / kills)))
        target = requests.count() + wanted
        process = _start(served, folder)
        while process.poll() is None and requests.count() < target:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.05 if wanted else 1.0))
        if process.poll() is not None:
            return done
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        _tell(began, f"kill {done + 1} of {kills}, after {requests.count() - whole:,} requests")
    return kills


def _pages(folder: Path) -> list[dict[str, str | None]]:
    return [json.loads(line) for line in _scrapy("pages", str(folder)).stdout.splitlines()]


def _files(served: ServedSite, pages: list[dict[str, str | None]]) -> set[str]:
    """Return the files of the site that some page with a payload shows."""
    found = {plain_path(page["url"] or "") for page in pages if page["payload_digest"]}
    return {name for name in found if name}


def measure(site: str, kills: int, seed: int) -> Outcome:
    """Crawl a site twice, once without a stop, and compare."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kills-") as temporary, _served(site) as served:
        whole, killed = Path(temporary, "whole", "job"), Path(temporary, "killed", "job")
        for folder in (whole, killed):
            folder.parent.mkdir()
        requests = _Requests(served.log)
        _finish(served, whole)
        once = requests.count()
        _tell(began, f"{site} was crawled without a stop, {once:,} requests")
        count = _kill_again_and_again(served, killed, kills, seed, requests, began)
        _finish(served, killed)
        _tell(began, f"the killed crawl has ended, {requests.count() - once:,} requests")
        files = _files(served, _pages(whole))
        kept = Counter(
            page["text_digest"] for page in _kept(killed) if page["text_digest"] is not None
        )
        lost = files - _files(served, _pages(killed))
        for name in sorted(lost):
            _tell(began, f"lost: {name}")
        done = _scrapy("verify", str(killed))
        _tell(began, f"crawl-once verify: {done.stdout}{done.stderr}")
        return Outcome(
            site=site,
            kills=count,
            files=len(files),
            lost=len(lost),
            twice=kept.total() - len(kept),
            again=requests.count() - 2 * once,
            verified=done.returncode,
        )


def _kept(folder: Path) -> list[dict[str, str | None]]:
    done = _scrapy("pages", str(folder), "--verdict", "kept")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--site", nargs="+", default=list(PACKAGES), choices=list(PACKAGES))
    parser.add_argument("--kills", type=int, metavar="N", help="default 40 and 100")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), metavar="N")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    print(f"seed of the moments: {arguments.seed}", file=sys.stderr)
    lines = [
        "| site | kills | files | lost | kept twice | asked for again | `crawl-once verify` |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    is_whole = True
    for site in arguments.site:
        one = measure(site, arguments.kills or KILLS[site], arguments.seed)
        is_whole &= not (one.lost or one.twice or one.verified)
        says = "finds nothing" if not one.verified else f"exit status {one.verified}"
        lines.append(
            f"| {one.site} | {one.kills} | {one.files:,} | {one.lost} | {one.twice} "
            f"| {one.again:,} | {says} |"
        )
    table = "\n".join(lines)
    print(table)
    if arguments.write:
        write("kills.py", [table], f"seed {arguments.seed}.")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
