"""The panel of a running crawl, on a real terminal: what is logged stays to be read."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

from tests.crawls.command import PROJECT
from tests.sites.hostile import HostileSite

if TYPE_CHECKING:
    from pathlib import Path

ROWS, COLUMNS = 200, 120
_TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Screen:
    """What a terminal shows: the movements and erasures that rich uses, no colours."""

    def __init__(self) -> None:
        self.lines = [""] * ROWS
        self._row = self._column = 0

    def feed(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            count, command, control, words = token.groups()
            if command == "A":
                self._row -= int(count or 1)
            elif command == "K":
                assert count == "2"
                self.lines[self._row] = ""
            elif control == "\n":
                self._row += 1
            elif control == "\r":
                self._column = 0
            elif words:
                self._write(words)

    def _write(self, words: str) -> None:
        line = self.lines[self._row].ljust(self._column)
        self.lines[self._row] = line[: self._column] + words + line[self._column + len(words) :]
        self._column += len(words)


def run_on_terminal(*command: str) -> Screen:
    """Run a command whose standard output and error are a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(
        command, cwd=PROJECT, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 1 << 16):
            said += chunk
    except OSError:  # all that wrote to it are gone
        pass
    finally:
        os.close(ours)
    assert process.wait() == 0
    screen = Screen()
    screen.feed(said.decode())
    return screen


def test_log_lines_stay_above_the_panel(tmp_path: Path) -> None:
    maps = [f"/nothing/{number}" for number in range(12)]
    robots = "".join(f"Sitemap: {path}\n" for path in maps)
    with HostileSite(robots, linked=("/plain/1",)) as site:
        screen = run_on_terminal(
            *(sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url}"),
            *("-s", f"JOBDIR={tmp_path / 'job'}", "-s", "DOWNLOAD_DELAY=0.7"),
            *("-s", "DOWNLOAD_DELAY_JITTER=0", "-s", "AUTOTHROTTLE_ENABLED=False"),
        )
        named = [line for path in maps for line in screen.lines if f"{site.at(path)}: no " in line]
    assert len(named) == len(maps), "\n".join(filter(None, screen.lines))
    # The panel itself is gone.
    assert not any("╭" in line for line in screen.lines)
