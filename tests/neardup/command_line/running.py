"""Run the real command, and say what it said."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.neardup.texts import changed, prose

PROJECT = Path(__file__).parents[3]

FIRST, SECOND = prose(1), prose(2)
ROWS: list[dict[str, Any]] = [
    {"url": "/a", "text": FIRST},
    {"url": "/b", "text": SECOND},
    {"url": "/a2", "text": FIRST.upper()},
    {"url": "/short", "text": "two words"},
    {"url": "/a3", "text": changed(FIRST + " " + prose(3, 200), 1)},
    {"url": "/b2", "text": SECOND + " more"},
    {"url": "/none", "text": None},
]
"""Two texts, each repeated once; a long one that only begins alike; a short and an empty one."""


@dataclass(frozen=True)
class Ended:
    """What a process left: its status and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "neardup", *map(str, arguments)]


def neardup(*arguments: str | Path, stdin: bytes = b"", cwd: Path = PROJECT) -> Ended:
    done = subprocess.run(
        command(*arguments),
        input=stdin,
        capture_output=True,
        cwd=cwd,
        timeout=300,
        check=False,
        env=environment(),
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONWARNINGS": "error", **more}


def refused(*arguments: str | Path, stdin: bytes = b"") -> str:
    """Run a command that cannot work, and return the one line that it says."""
    ended = neardup(*arguments, stdin=stdin)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("neardup: ")
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err
    return ended.err.removeprefix("neardup: ").rstrip("\n")


def json_lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
