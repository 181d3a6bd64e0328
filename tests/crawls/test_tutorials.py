"""The commands of the tutorials, of pages on the demo and of the README print what these show.

A line ``...`` stands for any lines. Ports, sizes and times, which vary, are replaced on both sides.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from crawler.demo import DemoServer
from tests.crawls.command import PROJECT, TIMEOUT_SECS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

OF_THE_DEMO = "crawling lab links mirror site_report text urls verdicts warc".split()
DOCUMENTS = [
    PROJECT / "README.md",
    *sorted((PROJECT / "docs" / "tutorials").glob("*.md")),
    *(PROJECT / "docs" / f"{name}.md" for name in OF_THE_DEMO),
]

_SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
_SITE = re.compile(r"http://127\.0\.0\.1:\d+/")
_VARYING = [
    (re.compile(r"127\.0\.0\.1([:+])\d+"), r"127.0.0.1\1PORT"),
    (re.compile(r"[\d.]+ [kM]?B\b"), "SIZE"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "TIME"),
]


def sessions(document: Path) -> Iterator[tuple[str, str]]:
    """Each command of a document and what it is shown to print."""
    for session in _SESSION.findall(document.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def run(command: str, folder: Path) -> str:
    """Run a command line in a folder; return its output, which may all be on standard error."""
    program, *arguments = command.split()
    before = {"crawl-once": ("-m", "crawler"), "python": ()}[program]
    done = subprocess.run(
        [sys.executable, *before, *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(PROJECT)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=TIMEOUT_SECS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout or done.stderr


def without_varying(text: str) -> str:
    """Replace what differs from run to run."""
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def is_shown(shown: str, printed: str) -> bool:
    """Whether a sample with its ``...`` is what was printed."""
    lines = [
        r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in shown.split("\n")
    ]
    return re.fullmatch("".join(lines), printed + "\n") is not None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_sessions_print_what_is_shown(document: Path, tmp_path: Path) -> None:
    samples = list(sessions(document))
    assert samples
    with DemoServer() as site:
        for command, shown in samples:
            printed = without_varying(run(_SITE.sub(site.url, command), tmp_path))
            assert is_shown(without_varying(shown), printed), f"$ {command}\n{printed}"


def test_sample_with_another_number_is_not_what_was_printed() -> None:
    assert is_shown("1 page\n...", "1 page\n2 links\n3 words")
    assert not is_shown("1 page\n...\n4 words", "1 page\n2 links\n3 words")
    assert not is_shown("1 page", "1 page\n2 links")
