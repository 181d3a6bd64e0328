"""Commands that are killed again and again: nothing lost, nothing kept twice.

    python benchmarks/kills.py [--what duplicates apache2-doc merge corpus watch] [--kills N]
        [--seed N] [--write]

A site is crawled once without a stop and once by processes of which each but the last is ended by
SIGKILL after some pages, drawn at random. Both crawls must hold the same files of the site, every
text once, and `crawl-once verify` must find nothing. Merges of two crawls and corpora of their
texts are killed at random moments, up to four times each, and must equal those that were not. A
watched site changes between kills; each page's last text must be kept, and no change be told twice.
Nothing is written unless --write is given.
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
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from pyarrow.parquet import read_table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from measuring import write  # noqa: E402
from mirror_kills import Changing  # noqa: E402

from crawler.watch.watch_store import WatchStore  # noqa: E402
from tests.sites.changing import ChangingSite  # noqa: E402
from tests.sites.duplicates import duplicated_site, plain_path  # noqa: E402
from tests.sites.nginx import debian_site  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.nginx import ServedSite

TIMEOUT_SECS = 1_800.0
PACKAGES = {"duplicates": "sqlite3-doc", "apache2-doc": "apache2-doc"}
KILLS = {"duplicates": 40, "apache2-doc": 100, "merge": 20, "corpus": 20, "watch": 20}
KILLS_OF_ONE_RUN = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of processes that were killed, beside one that was never stopped.

    Attributes:
        whole: What the run that was never stopped has: files of a site, kept texts, or pages.
        lost: Those among them that the killed one has not.
        twice: Kept pages beyond the first with one and the same text, or changes told again.
        again: Requests beyond those of the crawl that was never stopped; None: nothing is asked.
        verified: Exit status of ``crawl-once verify``: 0 where it finds nothing.
    """

    what: str
    kills: int
    whole: int
    lost: int
    twice: int
    again: int | None
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


def measure_crawl(site: str, kills: int, seed: int) -> Outcome:
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
        done = _kill_again_and_again(served, killed, kills, seed, requests, began)
        _finish(served, killed)
        _tell(began, f"the killed crawl has ended, {requests.count() - once:,} requests")
        files = _files(served, _pages(whole))
        kept = Counter(
            page["text_digest"] for page in _kept(killed) if page["text_digest"] is not None
        )
        lost = files - _files(served, _pages(killed))
        for name in sorted(lost):
            _tell(began, f"lost: {name}")
        verified = _scrapy("verify", str(killed))
        _tell(began, f"crawl-once verify: {verified.stdout}{verified.stderr}")
        return Outcome(
            what=site,
            kills=done,
            whole=len(files),
            lost=len(lost),
            twice=kept.total() - len(kept),
            again=requests.count() - 2 * once,
            verified=verified.returncode,
        )


def _kept(folder: Path) -> list[dict[str, str | None]]:
    done = _scrapy("pages", str(folder), "--verdict", "kept")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure_runs(what: str, kills: int, seed: int) -> Outcome:
    """Merge two crawls, or judge a corpus of their texts, once without a stop and then killed."""
    began, chance = time.monotonic(), random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as temporary:
        folder = Path(temporary)
        crawls = [folder / site / "job" for site in PACKAGES]
        for crawl, site in zip(crawls, PACKAGES, strict=True):
            crawl.parent.mkdir()
            with _served(site) as served:
                _finish(served, crawl)
        if what == "merge":
            words = ["crawler", "merge", *map(str, crawls)]
        else:
            texts = [_scrapy("pages", str(crawl), "--text", "all").stdout for crawl in crawls]
            (folder / "texts.jsonl").write_text("".join(texts))
            words = ["neardup", str(folder / "texts.jsonl")]
        start = time.monotonic()
        _killed_within(TIMEOUT_SECS, [*words, str(folder / "whole")])
        secs = time.monotonic() - start
        whole, done, lost, twice, verified = _kept_by_run(folder / "whole"), 0, 0, 0, 0
        for number in count():
            out = folder / f"killed-{number}"
            moments = (chance.uniform(0, secs) for _ in range(KILLS_OF_ONE_RUN))
            while _killed_within(next(moments, TIMEOUT_SECS), [*words, str(out)]):
                done += 1
                if out.exists():  # it was killed behind its last step
                    break
            found = _kept_by_run(out)
            lost, twice = lost + (whole - found).total(), twice + (found - whole).total()
            if what == "merge":
                verified = verified or _scrapy("verify", str(out)).returncode
            _tell(began, f"{what}: {done} of {kills} kills, {lost} lost, {twice} twice")
            if done >= kills:
                break
        return Outcome(what, done, whole.total(), lost, twice, None, verified)


def _killed_within(secs: float, words: list[str]) -> bool:
    """Run a module of ours and kill all its processes after a time; False: it ended before.

    Raises:
        SystemExit: It failed.
    """
    command = [sys.executable, "-P", "-m", *words]
    with subprocess.Popen(
        command, cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            said, _ = process.communicate(timeout=secs)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return True
    if process.returncode:
        raise SystemExit(said.decode(errors="replace")[-2_000:])
    return False


def _kept_by_run(folder: Path) -> Counter[str | None]:
    """Return the kept texts of a merged crawl, by their digests, or of a corpus, by their ids."""
    if (folder / "crawl.db").exists():
        return Counter(page["text_digest"] for page in _kept(folder))
    return Counter(read_table(folder / "kept")["id"].to_pylist())


def measure_watch(what: str, kills: int, seed: int) -> Outcome:
    """Watch a site that changes between kills; look for the last text of each page."""
    began, chance = time.monotonic(), random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as temporary, ChangingSite() as site:
        changing, folder = Changing(site, chance), Path(temporary, "watched")
        told = folder.with_suffix(".jsonl")
        words = ["crawler", "watch", str(folder), "--once", "-o", str(told)]
        _killed_within(TIMEOUT_SECS, ["crawler", "crawl", site.url, str(folder)])
        start = time.monotonic()
        _killed_within(TIMEOUT_SECS, words)
        _let_a_day_pass(folder)
        _killed_within(TIMEOUT_SECS, words)
        secs, done = time.monotonic() - start, 0
        while done < kills:
            _let_a_day_pass(folder)
            done += _killed_within(chance.uniform(0, secs), words)
            changing.change()
            _tell(began, f"watch: {done} of {kills} kills")
        for _ in range(2):  # the first may end a visit that was begun before the last change
            _let_a_day_pass(folder)
            _killed_within(TIMEOUT_SECS, words)
        pages = {page["url"]: page["text"] or "" for page in _kept(folder)}
        tokens = {urljoin(site.url, path): token for path, token in changing.tokens.items()}
        lost = sum(f"{token} " not in pages.get(url, "") for url, token in tokens.items())
        changes = Counter(json.loads(line)["id"] for line in told.read_text().splitlines())
        twice = changes.total() - len(changes)
        verified = _scrapy("verify", str(folder)).returncode
        return Outcome(what, done, len(tokens), lost, twice, None, verified)


def _let_a_day_pass(folder: Path) -> None:
    """Let a visit be due, unless one was interrupted, with which the next start goes on."""
    with closing(WatchStore(folder)) as store:
        if not store.is_interrupted:
            store.note_begin(0.0)
            store.note_end()


MEASURES = {
    "duplicates": measure_crawl,
    "apache2-doc": measure_crawl,
    "merge": measure_runs,
    "corpus": measure_runs,
    "watch": measure_watch,
}


def main() -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--what", nargs="+", default=list(MEASURES), choices=list(MEASURES))
    parser.add_argument("--kills", type=int, metavar="N", help="default 40, 100, 20, 20 and 20")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), metavar="N")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    print(f"seed of the moments: {arguments.seed}", file=sys.stderr)
    lines = [
        "| what is killed | kills | files, texts or pages | lost | twice | asked for again "
        "| `crawl-once verify` |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    is_whole = True
    for what in arguments.what:
        one = MEASURES[what](what, arguments.kills or KILLS[what], arguments.seed)
        is_whole &= not (one.lost or one.twice or one.verified)
        says = "finds nothing" if not one.verified else f"exit status {one.verified}"
        again = "" if one.again is None else f"{one.again:,}"
        lines.append(
            f"| {one.what} | {one.kills} | {one.whole:,} | {one.lost} | {one.twice} "
            f"| {again} | {'' if what == 'corpus' else says} |"
        )
    table = "\n".join(lines)
    print(table)
    if arguments.write:
        write("kills.py", [table], f"seed {arguments.seed}.")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
