"""The tests that docs/trust.md and docs/others.md name exist; each kind and row has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
TABLE = (PROJECT / "docs" / "trust.md").read_text(encoding="utf-8")
_INPUTS = TABLE.partition("## Fuzzing")[0]
ROWS = [line.split(" | ") for line in _INPUTS.splitlines() if line.startswith("| ")][1:]
OTHERS = (PROJECT / "docs" / "others.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", TABLE + OTHERS)
KINDS = (
    *("servers", "archives", "documents", "directories", "configuration"),
    *("rules", "labels", "cookies", "lab"),
)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_each_named_test_exists(file: str, name: str) -> None:
    tree = ast.parse((PROJECT / file).read_bytes())
    functions = [each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    tests = [each for each in functions if each.startswith("test_")]
    assert name in tests if name else tests


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_input_has_a_row_with_a_test(kind: str) -> None:
    rows = [row for row in ROWS if kind in row[0].lower()]
    assert rows
    assert all("`tests/" in row[2] for row in rows)


def test_each_row_about_another_tool_has_a_version_and_a_test() -> None:
    rows = [line for line in OTHERS.splitlines() if re.match(r"\| (?!tool \|)\w", line)]
    assert len(rows) > 9
    assert all(re.match(r"\|[^|]* \d", row) for row in rows)
    assert all(row.rstrip(" |").endswith("`") and "`tests/" in row for row in rows)
