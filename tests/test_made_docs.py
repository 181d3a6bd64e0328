"""The reference that is made from the code leaves nothing out."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

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
