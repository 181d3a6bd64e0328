"""The program before its command runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import PROJECT, TIMEOUT_SECS

if TYPE_CHECKING:
    from pathlib import Path

SLOW = """import sys, time
from scrapy.commands import ScrapyCommand
print("importing", flush=True)
if "wait" in sys.argv:
    time.sleep(600)
class SlowCommand(ScrapyCommand):
    def short_desc(self):
        return "Wait"
    def run(self, args, opts):
        pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of others, with a command of its own."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs.settings\n")
    commands = tmp_path / "theirs" / "commands"
    commands.mkdir(parents=True)
    for folder in (commands, commands.parent):
        (folder / "__init__.py").touch()
    (commands.parent / "settings.py").write_text('COMMANDS_MODULE = "theirs.commands"\n')
    (commands / "slow.py").write_text(SLOW)
    return tmp_path


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    # Scrapy sets this one in a process of tests that asks for the project's settings.
    rest = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=folder,
        env={**rest, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_while_commands_are_imported_ends_in_one_line(project: Path) -> None:
    with start(project, "slow", "wait") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT_SECS)
    assert (process.returncode, errors) == (130, "scrapy: interrupted\n")


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("page", 2, "scrapy page: no such command; did you mean pages?\n"),
        ("slov", 2, "scrapy slov: no such command; did you mean slow?\n"),
        ("xyzzyx", 2, ""),
        ("slow", 0, ""),
    ],
)
def test_a_similar_command_is_proposed(project: Path, name: str, status: int, said: str) -> None:
    with start(project, name, "--nolog") as process:
        _, errors = process.communicate(timeout=TIMEOUT_SECS)
    assert (process.returncode, errors) == (status, said)


def test_commands_of_our_project_are_proposed() -> None:
    with start(PROJECT, "--nolog", "miror") as process:
        _, errors = process.communicate(timeout=TIMEOUT_SECS)
    assert errors == "scrapy miror: no such command; did you mean mirror?\n"
