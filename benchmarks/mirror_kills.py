"""A mirror that is killed again and again: no half file, no broken link, nothing outside of it.

    python benchmarks/mirror_kills.py [--kills N] [--every N] [--seed N] [--write]

A site of pages, pictures and larger files is mirrored by processes that are ended by SIGKILL after
some requests, drawn at random; between them some pages and files of the site change. After each
kill ``mirror check`` is asked. After every tenth one, by default, the mirror is left to end, is
updated once more, and read beside the site. Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the sites of the tests are no part of an installed package

from lxml import html  # noqa: E402
from measuring import write  # noqa: E402

from tests.sites.changing import ChangingSite  # noqa: E402
from tests.sites.prose import prose  # noqa: E402

if TYPE_CHECKING:
    from tests.sites.exchange import Exchange

PAGES = 60
FILE_BYTES = 300_000
TIMEOUT_SECS = 300.0


class Changing:
    """A tree of pages, each with a picture and a file, which change at random."""

    def __init__(self, site: ChangingSite, chance: random.Random) -> None:
        self._site = site
        self._chance = chance
        self.tokens: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        for number in range(PAGES):
            self._write(number)

    def _write(self, number: int) -> None:
        path = "/" if number == 0 else f"/page/{number}/"
        below = [f"/page/{child}/" for child in (3 * number + 1, 3 * number + 2, 3 * number + 3)]
        token = f"token{self._chance.randrange(10**9)}"
        picture, large = f"/pictures/{number}.png", f"/files/{number}.bin"
        links = [*(link for link in below if int(link.split("/")[2]) < PAGES), large]
        self._site.put(
            path,
            f"{token} {prose(token, 200)}",
            links,
            head=f'<link rel="icon" href="{picture}">',
        )
        self.tokens[path] = token
        for name, size in ((picture, 2_000), (large, FILE_BYTES)):
            content = self._chance.randbytes(size)
            self.files[name] = content
            self._site.added[name] = partial(_answer, content)

    def change(self) -> None:
        for number in self._chance.sample(range(PAGES), 4):
            self._write(number)


def _answer(content: bytes, exchange: Exchange) -> None:
    exchange.answer(content, "application/octet-stream")


def _mirror(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", "mirror", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECS
    )


def _killed(site: ChangingSite, folder: Path, chance: random.Random) -> bool:
    """Start a mirror and kill it; return whether it had not ended."""
    target = len(site.asked) + chance.randrange(2 * PAGES)
    command = [sys.executable, "-m", "scrapy", "mirror", site.url, str(folder)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and len(site.asked) < target:
        time.sleep(0.002)
    time.sleep(chance.uniform(0, 0.3))
    was_running = process.poll() is None
    if was_running:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return was_running


def _faults(changing: Changing, site: ChangingSite, folder: Path) -> Counter[str]:
    """Read a mirror beside its site; return what is wrong with it."""
    faults: Counter[str] = Counter()
    root = folder / urlsplit(site.url).netloc.replace(":", "+")
    for path, token in changing.tokens.items():
        file = root / f"{path.strip('/')}/index.html".lstrip("/")
        if not file.is_file():
            faults["pages missing"] += 1
            continue
        page = file.read_text("utf-8")
        faults["pages not as served"] += f"{token} " not in page or "</html>" not in page
        for _, _, link, _ in html.fromstring(page).iterlinks():
            parts = urlsplit(urljoin(file.as_uri(), link))
            if parts.scheme == "file" and not Path(unquote(parts.path)).is_file():
                faults["broken links"] += 1
    for path, content in changing.files.items():
        file = root / path.lstrip("/")
        faults["files not as served"] += not file.is_file() or file.read_bytes() != content
    return +faults


def measure(kills: int, every: int, seed: int) -> tuple[Counter[str], int]:
    """Kill mirrors; return what was counted, and the number of faults."""
    counts: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as temporary, ChangingSite() as site:
        changing, folder = Changing(site, chance), Path(temporary, "mirror")
        has_ended = False
        while counts["kills"] < kills:
            if _killed(site, folder, chance):
                counts["kills"] += 1
                counts["kills of an update"] += has_ended
                checked = _mirror("check", str(folder))
                said = checked.stdout + checked.stderr
                is_told = "not finished" in said or "no mirror in it" in said
                counts["told by mirror check"] += is_told
                if checked.returncode not in {0, 1, 2} or "Traceback" in checked.stderr:
                    faults["checks that broke"] += 1
            changing.change()
            outside = sorted(set(os.listdir(temporary)) - {"mirror"})
            faults["files outside"] += len(outside)
            if counts["kills"] % every == 0 and counts["audits"] < counts["kills"] // every:
                runs = [_mirror(site.url, str(folder)) for _ in range(2)]
                has_ended = True
                faults["runs that failed"] += sum(run.returncode != 0 for run in runs)
                checked = _mirror("check", str(folder))
                faults["checks that found something"] += checked.returncode != 0
                faults += _faults(changing, site, folder)
                counts["audits"] += 1
                print(
                    f"{counts['kills']} kills: {dict(faults) or 'no fault'}",
                    *(run.stdout[-600:] for run in (*runs, checked) if run.returncode),
                    file=sys.stderr,
                    flush=True,
                )
    return counts, (+faults).total()


def main() -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=100, metavar="N")
    parser.add_argument("--every", type=int, default=10, metavar="N", help="kills between audits")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), metavar="N")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    print(f"seed of the moments: {arguments.seed}", file=sys.stderr)
    counts, faults = measure(arguments.kills, arguments.every, arguments.seed)
    table = (
        "| kills | of an update | told by `mirror check` | times read beside the site | faults |\n"
        "|--:|--:|--:|--:|--:|\n"
        f"| {counts['kills']} | {counts['kills of an update']} | {counts['told by mirror check']} "
        f"| {counts['audits']} | {faults} |"
    )
    print(table)
    if arguments.write:
        write("mirror_kills.py", [table], f"seed {arguments.seed}.")
    return 0 if not faults else 1


if __name__ == "__main__":
    sys.exit(main())
