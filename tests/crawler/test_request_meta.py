"""Keys of ``Request.meta`` stand in one list."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import pytest
from scrapy import Request

import crawler
from crawler import request_meta
from crawler.request_meta import (
    SPELLING,
    WAITED,
    depth_of,
    for_another_spelling,
    host_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Those that are read or written here under Scrapy's names.
SCRAPY_KEYS = frozenset(
    {
        "depth",
        "dont_obey_robotstxt",
        "cached_response",
        "dont_redirect",
        "dont_retry",
        "download_fail_on_dataloss",
        "download_latency",
        "download_maxsize",
        "download_slot",
        "download_timeout",
        "handle_httpstatus_all",
        "handle_httpstatus_list",
        "max_retry_times",
        "proxy",
        "redirect_reasons",
        "redirect_times",
        "redirect_ttl",
        "redirect_urls",
        "retry_times",
    }
)
OWN_KEYS = frozenset(
    value
    for value in vars(request_meta).values()
    if isinstance(value, str) and value.startswith(("crawl_", "mirror_"))
)
_SOURCE = Path(crawler.__file__).parent
_METHODS = {"get", "pop", "setdefault"}


def _is_meta(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name == "meta"


def _gives_meta(node: ast.AST) -> TypeGuard[ast.keyword | ast.Assign]:
    is_argument = isinstance(node, ast.keyword) and node.arg == "meta"
    return is_argument or (isinstance(node, ast.Assign) and _is_meta(node.targets[0]))


def _literal_keys(tree: ast.AST) -> Iterator[str]:
    """Yield the literal keys of what is named ``meta``: subscripts, methods, ``in``, dicts."""
    for node in ast.walk(tree):
        keys: list[ast.expr | None] = []
        if isinstance(node, ast.Subscript) and _is_meta(node.value):
            keys = [node.slice]
        elif isinstance(node, ast.Compare) and _is_meta(node.comparators[-1]):
            keys = [node.left]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _METHODS and _is_meta(node.func.value):
                keys = [*node.args[:1]]
        elif _gives_meta(node) and isinstance(node.value, ast.Dict):
            keys = list(node.value.keys)
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _modules() -> dict[str, ast.AST]:
    # Elsewhere the word means the table ``meta`` of crawl.db, or an element of HTML.
    rooms = ("spiders", "downloadermiddlewares", "feeds", "commands", "console")
    paths = [
        *_SOURCE.glob("*.py"),
        *(path for room in rooms for path in (_SOURCE / room).rglob("*.py")),
    ]
    return {str(path.relative_to(_SOURCE)): ast.parse(path.read_text()) for path in paths}


def test_every_literal_key_is_one_of_scrapys() -> None:
    found = {(name, key) for name, tree in _modules().items() for key in _literal_keys(tree)}
    assert len({key for _, key in found}) > 5
    assert {(name, key) for name, key in found if key not in SCRAPY_KEYS} == set()


@pytest.mark.parametrize("key", sorted(OWN_KEYS))
def test_a_key_of_ours_is_written_in_one_file(key: str) -> None:
    files = [path for path in _SOURCE.rglob("*.py") if f'"{key}"' in path.read_text()]
    assert files == [_SOURCE / "request_meta.py"]


def test_keys_of_ours_are_none_of_scrapys() -> None:
    assert len(OWN_KEYS) > 5
    assert not OWN_KEYS & SCRAPY_KEYS


def test_another_spelling_has_no_trace_of_the_download() -> None:
    first = {"depth": 2, "download_slot": "h", "redirect_urls": ["u"], WAITED: 3.0, "mine": 1}
    assert for_another_spelling(first) == {"depth": 2, "mine": 1, SPELLING: True}


@pytest.mark.parametrize(
    ("depth", "expected"), [(None, 0), (3, 3), (-1, 0), ("3", 0), (10**9, 2**16 - 1)]
)
def test_depth_of_a_request(depth: object, expected: int) -> None:
    assert depth_of(Request("http://h.org/", meta={"depth": depth}).meta) == expected


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://Site.test:8080/a", "site.test"),
        ("https://user:word@site.test/", "site.test"),
        ("http://[::1]:6800/", "::1"),
        ("about:blank", ""),
    ],
)
def test_a_host_is_in_small_letters_and_without_its_port(url: str, host: str) -> None:
    assert host_in(url) == host
