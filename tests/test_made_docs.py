"""The reference that is made from the code leaves nothing out; sample outputs are real."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.options import our_settings
from crawler.pages.verdicts import VERDICTS
from crawler.program import command_names

_PROJECT = Path(__file__).parents[1]
_FILE = _PROJECT / "docs" / "_extensions" / "made_from_code.py"
_SPEC = importlib.util.spec_from_file_location("made_from_code", _FILE)
assert _SPEC is not None
assert _SPEC.loader is not None
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)


def test_every_command_has_its_help() -> None:
    text = made.commands()
    assert sorted(re.findall(r"^### crawl-once (\w+)$", text, re.MULTILINE)) == command_names()
    assert "--max-pages" in text


def test_every_setting_has_a_section() -> None:
    sections = re.findall(r"^## (\w+)$", made.settings(), re.MULTILINE)
    assert sorted(sections) == sorted(our_settings())
    assert "Default: `0.8`" in made.settings()


def test_every_verdict_has_a_row() -> None:
    assert re.findall(r"^\| `(\w+)` \|", made.verdicts(), re.MULTILINE) == list(VERDICTS)


@pytest.mark.slow
def test_commands_of_the_tutorial_print_what_it_shows(tmp_path: Path) -> None:
    text = (_PROJECT / "docs" / "tutorials" / "corpus.md").read_text(encoding="utf-8")
    samples = re.findall(r"```console\n\$ crawl-once (.*)\n([^`]*)```", text)
    assert len(samples) == 4
    for command, shown in samples:
        done = subprocess.run(
            [sys.executable, "-m", "crawler", *command.split()],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(_PROJECT)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        printed = (done.stdout + done.stderr).splitlines()
        assert [line for line in shown.splitlines() if line != "..." and line not in printed] == []
