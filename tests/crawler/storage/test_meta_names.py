"""Names of the rows of the table ``meta`` stand in one list."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import crawler
from crawler.storage import meta_names
from tests.crawler.test_request_meta import SCRAPY_KEYS

_SOURCE = Path(crawler.__file__).parent
_LIST = _SOURCE / "storage" / "meta_names.py"
_IN_SQL = re.compile(r"\bmeta\b.*\bname\s*=\s*'(\w+)'", re.DOTALL)


def _literals(tree: ast.AST) -> set[str]:
    """Return literal names in calls of ``meta``, ``set_meta``, ``meta.get``, and in SQL."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            of = getattr(node.func.value, "attr", getattr(node.func.value, "id", ""))
            is_call = node.func.attr in {"meta", "set_meta"}
            if is_call or (of == "meta" and node.func.attr in {"get", "pop"}):
                name = node.args[0]
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    found.add(name.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(_IN_SQL.findall(node.value))
    return found


def test_no_name_is_written_outside_of_the_list() -> None:
    found = {
        (str(path.relative_to(_SOURCE)), name)
        for path in _SOURCE.rglob("*.py")
        for name in _literals(ast.parse(path.read_text())) - SCRAPY_KEYS
    }
    assert found == set()


def test_literals_would_be_found() -> None:
    code = "d.meta('a'); d.set_meta('b', ''); x.meta.get('c'); meta.get('d', 0)\n"
    sql = "s = \"SELECT value FROM meta WHERE name = 'e'\""
    assert _literals(ast.parse(code + sql)) == set("abcde")


def test_every_name_is_unique_and_explained() -> None:
    names = []
    for line, following in pairwise(ast.parse(_LIST.read_text()).body):
        if isinstance(line, ast.AnnAssign):
            assert isinstance(following, ast.Expr)
            assert isinstance(following.value, ast.Constant)
            assert isinstance(line.target, ast.Name)
            names.append(getattr(meta_names, line.target.id))
    assert len(names) == len(set(names)) > 20
