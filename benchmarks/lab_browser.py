"""The lab's slider in Chromium: from the key that moves it to the counts that are painted.

    python benchmarks/lab_browser.py [--pages N ...] [--moves N]

``crawl-once lab`` opens a file of made pages, a third of which resemble others more or less; each
move asks for what was not asked before. Chromium's own clock tells the time: from the event to the
end of the frame in which the counts have changed.

"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the browser of the tests is no part of an installed package

from crawl_peers.tables import machine  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from neardup.parameters import DEFAULTS  # noqa: E402
from tests.browsing.chromium import chromium  # noqa: E402
from tests.crawls.lab import Page, lab  # noqa: E402

PAGES = (10_000, 100_000)
MOVES = 20
PREPARING_SECS = 900.0

_VOCABULARY = 6_000
_MIN_WORDS, _MAX_WORDS = 40, 260
_RESEMBLING = 0.35
_KIN = 2_000
_CHANGES = (0, 1, 2, 4, 8, 14, 24, 40)

_WATCH = """
window.moves = [];
let moved = null;
document.addEventListener('keydown', event => { moved = event.timeStamp; }, true);
new MutationObserver(() => {
  if (moved === null) return;
  const start = moved;
  moved = null;
  requestAnimationFrame(() => {
    // A message comes after the frame is painted.
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.moves.push(performance.now() - start);
    channel.port2.postMessage(0);
  });
}).observe(document.querySelector('[data-figure=kept]').closest('.figures'),
  {attributes: true, attributeFilter: ['data-choice']});
"""


class Result(NamedTuple):
    """What was measured of one file."""

    pages: int
    ready_secs: float
    median_ms: float
    worst_ms: float


def write_pages(file: Path, count: int) -> None:
    """Write texts of which some are made from one of the last two thousand that are not."""
    source = random.Random(count)
    words = ["".join(source.choices("abdefghiklmnoprstuvw", k=7)) for _ in range(_VOCABULARY)]
    kin: list[list[str]] = []
    with file.open("w") as out:
        for number in range(count):
            if kin and source.random() < _RESEMBLING:
                text = list(source.choice(kin))
                for place in source.choices(range(len(text)), k=source.choice(_CHANGES)):
                    text[place] = source.choice(words)
            else:
                text = source.choices(words, k=source.randint(_MIN_WORDS, _MAX_WORDS))
                kin = [*kin[1 - _KIN :], text]
            page = {"url": f"http://site.example/{number}", "title": "", "text": " ".join(text)}
            out.write(json.dumps(page) + "\n")


def measure(page: Page, pages: int, moves: int) -> Result:
    """Move sliders, each time to where they were not."""
    start = time.monotonic()
    page.tab("Threshold")

    def is_ready() -> bool:
        shown = page.all(f"[data-pages='{pages}']")
        return bool(shown) and "distinct texts" in page.text()

    page.wait(is_ready, PREPARING_SECS)
    ready_secs = time.monotonic() - start
    page.driver.execute_script(_WATCH)
    for number in range(moves):
        # At 0 bits a key moves nothing.
        name = "max_distance" if number < DEFAULTS.max_distance else "min_similarity"
        handle = page.one(f"[data-scale={name}] [tabindex]")
        page.driver.execute_script("arguments[0].focus()", handle)
        ActionChains(page.driver).send_keys(Keys.ARROW_LEFT).perform()
        page.wait(lambda number=number: measured(page) > number)  # type: ignore[misc]
    times = page.driver.execute_script("return window.moves")
    return Result(pages, ready_secs, statistics.median(times), max(times))


def measured(page: Page) -> int:
    """How many moves are through."""
    return int(page.driver.execute_script("return window.moves.length"))


def main() -> None:
    """Measure and print a line for each number of pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", nargs="+", type=int, default=PAGES, metavar="N")
    parser.add_argument("--moves", type=int, default=MOVES, metavar="N", help=f"default {MOVES}")
    arguments = parser.parse_args()
    print(machine())
    print(f"{'pages':>8}{'ready, s':>10}{'median, ms':>12}{'worst, ms':>12}")
    for count in arguments.pages:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "pages.jsonl"
            write_pages(file, count)
            with lab(str(file)) as running, chromium(has_network=True) as browser:
                page = Page(browser, running.address)
                result = measure(page, count, arguments.moves)
        median, worst = result.median_ms, result.worst_ms
        print(f"{count:>8,}{result.ready_secs:>10.1f}{median:>12.0f}{worst:>12.0f}", flush=True)


if __name__ == "__main__":
    main()
