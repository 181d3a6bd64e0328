"""A Scrapy extension that measures how long the event loop does nothing else, and where it is."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from types import FrameType
    from typing import Self

    from scrapy.crawler import Crawler

FILE_VARIABLE = "CRAWL_STANDSTILL_FILE"
TICK_SECS = 0.02
SAMPLED_SECS = 0.1
"""A standstill is sampled from this length on, every ``TICK_SECS``."""
OURS = ("crawler.", "neardup.")
MAX_NAMES = 4


class Standstill:
    """Asks the loop for a call every 20 ms and keeps the longest delay of one.

    A thread looks meanwhile at the stack of a loop that is late, so that the place is known.

    Files: the one that ``CRAWL_STANDSTILL_FILE`` names, JSON, written anew at each longer
    standstill: ``wall_secs``, the longest time between two calls; ``places``, the functions of
    that time with the number of samples, the most frequent first; ``collecting_secs``, how much of
    that time garbage was collected; ``cpu_secs``, the most CPU time of the loop's thread between
    two calls.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._wall = self._cpu = self._collecting = 0.0
        self._collected = self._collection_began = 0.0
        self._places: list[tuple[str, int]] = []
        self._samples: Counter[str] = Counter()
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Measure from the opening of the spider until the engine stops."""
        name = os.environ.get(FILE_VARIABLE)
        if not name:
            raise NotConfigured(f"{FILE_VARIABLE} is not set")
        meter = cls(Path(name))
        crawler.signals.connect(meter._begin, signals.spider_opened)
        crawler.signals.connect(meter._end, signals.engine_stopped)
        return meter

    def _begin(self) -> None:
        self._thread_id = threading.get_ident()
        gc.callbacks.append(self._time_collection)
        self._again()
        self._watcher.start()

    def _again(self) -> None:
        self._at, self._used = time.monotonic(), time.thread_time()
        asyncio.get_running_loop().call_later(TICK_SECS, self._tick)

    def _tick(self) -> None:
        if not self._ended.is_set():
            self._note()
            self._again()

    def _note(self) -> None:
        """End the time between two calls."""
        wall = time.monotonic() - self._at - TICK_SECS
        self._cpu = max(self._cpu, time.thread_time() - self._used)
        samples, self._samples = self._samples, Counter()
        collected, self._collected = self._collected, 0.0
        if wall > self._wall:
            self._wall, self._places = wall, samples.most_common(5)
            self._collecting = collected
            if wall > SAMPLED_SECS:
                self._write()

    def _time_collection(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._collection_began = time.monotonic()
        else:
            self._collected += time.monotonic() - self._collection_began

    def _end(self) -> None:
        self._ended.set()
        gc.callbacks.remove(self._time_collection)
        self._note()
        self._write()

    def _write(self) -> None:
        measured = {
            "wall_secs": self._wall,
            "collecting_secs": self._collecting,
            "cpu_secs": self._cpu,
            "places": self._places,
        }
        self._file.write_text(json.dumps(measured), encoding="utf-8")

    def _watch(self) -> None:
        while not self._ended.wait(TICK_SECS):
            if time.monotonic() - self._at > SAMPLED_SECS:
                frame = sys._current_frames().get(self._thread_id)
                self._samples[_place(frame)] += 1


def _place(frame: FrameType | None) -> str:
    """Name the innermost functions of this project, the caller first, and the one they called."""
    names = [] if frame is None or _module(frame).startswith(OURS) else [_name(frame)]
    while frame is not None and len(names) < MAX_NAMES:
        if _module(frame).startswith(OURS):
            names.append(_name(frame))
        frame = frame.f_back
    return " > ".join(reversed(names))


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "?"))


def _name(frame: FrameType) -> str:
    return f"{_module(frame)}.{frame.f_code.co_qualname}"
