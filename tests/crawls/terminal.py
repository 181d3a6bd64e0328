"""A command on a pseudo-terminal, and the screen that a person would see."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from typing import TYPE_CHECKING

from tests.crawls.command import PROJECT
from tests.waiting import attempts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

ROWS = 400
_PAUSE_SECS = 0.05
_TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Screen:
    """What a terminal shows: the movements and erasures that rich uses, no colours.

    Attributes:
        widest: Most columns that a line with the frame of a panel ever had.
    """

    def __init__(self, columns: int) -> None:
        self.cells = [""] * ROWS
        self.columns = columns
        self.widest = 0
        self._row = self._column = 0

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.cells if line.strip()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def feed(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            count, command, control, words = token.groups()
            if command == "A":
                self._row -= int(count or 1)
            elif command == "K":
                assert count == "2"
                self.cells[self._row] = ""
            elif control == "\n":
                self._row += 1
            elif control == "\r":
                self._column = 0
            elif words:
                self._write(words)

    def _write(self, words: str) -> None:
        """Write words, and break the line at the last column as terminals do."""
        for character in words:
            if self._column == self.columns:
                self._row, self._column = self._row + 1, 0
            line = self.cells[self._row].ljust(self._column)
            self.cells[self._row] = line[: self._column] + character + line[self._column + 1 :]
            self._column += 1
            if character in "╭│╰╮╯":
                self.widest = max(self.widest, self._column)


class OnTerminal:
    """A process whose standard output and error are a terminal, on which keys can be pressed."""

    def __init__(self, columns: int, command: Sequence[str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.screen = Screen(columns)
        self._rest = b""
        self.process = subprocess.Popen(
            command,
            cwd=PROJECT,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm"},
            preexec_fn=_control_terminal,  # noqa: PLW1509  # no thread of pytest holds a lock here
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait until the screen shows something."""
        for _ in attempts(pause_secs=0):
            if found := re.search(pattern, self.screen.text):
                return found
            assert self._read(), self.screen.text
        raise AssertionError(f"{pattern} in vain: {self.screen.text}")

    def finish(self, status: int = 0) -> Screen:
        """Wait until all that write to the terminal are gone, and expect an exit status."""
        while self._read():
            pass
        self.screen.feed(self._rest.decode())
        assert self.process.wait() == status, self.screen.text
        return self.screen

    def _read(self) -> bool:
        """Show what was written; return whether there can be more."""
        ready, _, _ = select.select([self._ours], [], [], _PAUSE_SECS)
        if not ready:
            return True
        try:
            chunk = os.read(self._ours, 1 << 16)
        except OSError:  # all that wrote to it are gone
            return False
        *whole, self._rest = re.split(rb"(?<=\n)", self._rest + chunk)
        self.screen.feed(b"".join(whole).decode())
        return bool(chunk)


def _control_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
