"""Count what the house holds: lines of source, modules, files that ask the table ``pages``.

    python -m tests.house [--pin]

The numbers are printed beside those that are pinned. ``--pin`` lowers the pins to what is counted,
and refuses where one of the numbers rose.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[1]

PACKAGES = ("crawler", "neardup")

MODULES = frozenset({".py", ".pyx", ".pxi", ".pxd", ".c", ".h"})
"""Endings of files that are imported or compiled."""

SOURCES = MODULES | {".pyi", ".lua", ".js", ".css", ".html"}
"""Endings of files that people write and read."""

_PINNED = Path(__file__).with_name("house_pinned.json")

_NAMES_PAGES = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|EXISTS|ON)\s+(?:\w+\.)?pages\b")

_STATEMENT = re.compile(r"\b(?:SELECT\s|INSERT (?:OR \w+ )?INTO\s|UPDATE \w+ SET\s|DELETE FROM\s)")

_ADVICE = (
    "What is added is paid for in the same change: find the mechanism that stands twice and remove "
    "one, fold a module into its only importer, delete what nothing reaches. Not by denser code."
)


@dataclass(frozen=True)
class House:
    """Numbers that may only fall.

    Attributes:
        lines: Lines of the files of ``SOURCES`` in ``crawler`` and ``neardup``, with empty ones,
            comments and docstrings. Links are not followed, C that Cython made is not counted.
        modules: Files of ``MODULES`` among them.
        files_that_ask_pages: Modules of Python with a string, an f-string included, in which the
            table ``pages``, of any schema, follows FROM, JOIN, INTO, UPDATE, TABLE, EXISTS or ON.
            Docstrings are no SQL.
    """

    lines: int
    modules: int
    files_that_ask_pages: int

    def rises_above(self, other: House) -> list[str]:
        """Return a line for each number that is higher than that of another house."""
        rises = []
        for field in fields(self):
            now, then = getattr(self, field.name), getattr(other, field.name)
            if now > then:
                words = field.name.replace("_", " ")
                rises.append(f"{words}: {now:,}, {now - then:,} above the {then:,} that are pinned")
        return rises


def count(project: Path = PROJECT) -> House:
    """Count the packages of a checkout."""
    lines = modules = files_that_ask_pages = 0
    for file in _sources(project):
        source = file.read_bytes()
        lines += len(source.splitlines())
        modules += file.suffix in MODULES
        files_that_ask_pages += file.suffix == ".py" and asks_pages(source)
    return House(lines, modules, files_that_ask_pages)


def _sources(project: Path) -> Iterator[Path]:
    for package in PACKAGES:
        for folder, _, names in os.walk(project / package):
            for name in names:
                file = Path(folder, name)
                made = file.suffix == ".c" and file.with_suffix(".pyx").exists()
                if file.suffix in SOURCES and not made:
                    yield file


def asks_pages(source: bytes) -> bool:
    """Return whether a module of Python has SQL that names the table ``pages``."""
    return any(map(_NAMES_PAGES.search, _texts(source)))


def has_sql(source: bytes) -> bool:
    """Return whether a module of Python has statements of SQL."""
    return any(map(_STATEMENT.search, _texts(source)))


def _texts(source: bytes) -> Iterator[str]:
    """Yield the strings of a module that are no docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    yield from (
        node.value for node in texts if isinstance(node.value, str) and id(node) not in docstrings
    )


def pinned(file: Path = _PINNED) -> House:
    """Return the numbers that may not be passed."""
    return House(**json.loads(file.read_text(encoding="utf-8")))


def complaint(house: House, before: House) -> str:
    """Return which numbers rose, by how much, and what to do; nothing if none did."""
    rises = house.rises_above(before)
    return "\n".join([*rises, _ADVICE]) if rises else ""


def pin(house: House, file: Path = _PINNED) -> None:
    """Store the numbers as those that may not be passed.

    Raises:
        SystemExit: One of them rose; the message says which.
    """
    if refusal := complaint(house, pinned(file)):
        raise SystemExit(f"not pinned:\n{refusal}")
    file.write_text(json.dumps(asdict(house), indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Count, print, and lower the pins if asked to."""
    parser = argparse.ArgumentParser(description=f"{__doc__}".splitlines()[0])
    parser.add_argument("--pin", action="store_true", help="lower the numbers that are pinned")
    arguments = parser.parse_args()
    house, before = count(), pinned()
    for field in fields(House):
        words = field.name.replace("_", " ")
        print(f"{words}: {getattr(house, field.name):,}, pinned {getattr(before, field.name):,}")
    if arguments.pin:
        pin(house)
    return 0


if __name__ == "__main__":
    sys.exit(main())
