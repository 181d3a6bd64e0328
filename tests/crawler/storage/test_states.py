"""States of rows are named: their numbers stand in one file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import crawler
from crawler.storage.states import RequestState, RuleStatus, SpellingState

_SOURCE = Path(crawler.__file__).parent
_NUMBER = re.compile(
    r"\bstate\s*(?:[<>=!]+|(?:NOT\s+)?(?:IN|BETWEEN))\s*\(?\d|\(state,[^)]*\)\s*(?:VALUES|SELECT)\s*\(?\d",
    re.IGNORECASE,
)


def _strings(path: Path) -> list[str]:
    """Return the text of a file of SQL or Lua, or the strings of a module, f-strings as {}."""
    if path.suffix != ".py":
        return [path.read_text()]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            parts = (one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
            found.append("".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return found


def test_no_statement_has_the_bare_number_of_a_state() -> None:
    paths = [path for path in _SOURCE.rglob("*") if path.suffix in {".py", ".lua", ".sql"}]
    wrong = [
        (str(path.relative_to(_SOURCE)), found[0])
        for path in paths
        for text in _strings(path)
        for found in _NUMBER.finditer(text)
    ]
    assert len(paths) > 300
    assert wrong == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1 FROM requests WHERE state = 4",
        "state NOT IN (0, 1)",
        "state NOT BETWEEN 0 AND 4",
        "UPDATE url_rules SET state=2",
        "INSERT INTO requests (state, tries) VALUES (2, 0)",
        "INSERT INTO requests\n(state, tries)\nSELECT 2, 0 FROM pages",
    ],
)
def test_a_bare_number_would_be_found(statement: str) -> None:
    assert _NUMBER.search(statement)


def test_stored_numbers_stay() -> None:
    """A crawl directory holds these numbers."""
    assert {state.name: int(state) for state in RequestState} == {
        "WAITING": 0,
        "LEASED": 1,
        "DONE": 2,
        "FAILED": 3,
        "SKIPPED": 4,
    }
    assert [int(status) for status in RuleStatus] == [1, 2, 3, 4]
    assert [int(state) for state in SpellingState] == [0, 1, 2]


def test_a_merge_takes_the_rule_that_ended_worst() -> None:
    assert RuleStatus.HOLDS < RuleStatus.COVERED < RuleStatus.REVOKED < RuleStatus.FORGOTTEN
