"""Each thing that harms where it is done carelessly is done in one place, as the source shows."""

from __future__ import annotations

import ast
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.house import has_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parents[1]

WRITERS = {
    "neardup/files/durable.py": "the one way",
    "crawler/mirror/handles.py": "below descriptors of folders, where no link is followed",
    "crawler/mirror/downloads.py": "below descriptors of folders, where no link is followed",
    "crawler/rendering/browser.py": "the lock of a folder that mkdtemp made",
    "crawler/watch/delivery.py": "lines are appended to the file that the user names",
    "crawler/storage/output_files.py": "tries whether the file that the user names can be written",
    "crawler/warc/wacz.py": "into what replacing opened",
    "crawler/lab/plot.py": "into what named_file opened",
    "crawler/maintenance/verify/file_checks.py": "into a temporary folder of its own",
    "crawler/console/mirror_packing.py": "into the new file that _replaced made",
}
"""Files with another way to make, change or copy files, and why."""

_CALLS = frozenset({
    "write_text", "write_bytes", "copyfile", "copy", "copy2", "copytree", "move", "mkstemp",
    "NamedTemporaryFile", "fdopen", "truncate", "savefig",
})  # fmt: skip
_OF_MODULES = frozenset({"copyfile", "copy", "copy2", "copytree", "move", "fdopen", "truncate"})
_LOOKED_AT = frozenset({"O_WRONLY", "O_RDWR", "O_CREAT"})


@cache
def calls() -> list[tuple[str, ast.Call]]:
    return list(_calls())


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for package in ("crawler", "neardup"):
        for path in sorted((PROJECT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    yield path.relative_to(PROJECT).as_posix(), node


def name_of(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def module_of(call: ast.Call) -> str:
    """The name before the dot."""
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        return call.func.value.id
    return ""


def texts(call: ast.Call) -> list[str]:
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [
        one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


def is_writing(call: ast.Call) -> bool:
    name = name_of(call)
    if name in {"open", "ZipFile"}:
        named = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)}
        if "devnull" in named:
            return False
        if module_of(call) == "os":
            return bool(_LOOKED_AT & named)
        modes = [text for text in texts(call) if text and set(text) <= set("rwaxbt+")]
        return any(set(mode) & set("wax+") for mode in modes)
    if name in _OF_MODULES:
        return module_of(call) in {"shutil", "os"}
    return name in _CALLS and isinstance(call.func, ast.Attribute)


def test_files_are_written_in_one_way() -> None:
    """So that no link is written through; into what was opened so, anything may write."""
    found = {f"{path}:{call.lineno}" for path, call in calls() if is_writing(call)}
    assert {place for place in found if place.partition(":")[0] not in WRITERS} == set()
    assert {place.partition(":")[0] for place in found} >= set(WRITERS), "a reason for nothing"


def test_databases_are_opened_in_one_way() -> None:
    found = {
        path
        for path, call in calls()
        if name_of(call) == "connect"
        and module_of(call) == "sqlite3"
        and not {"", ":memory:"} & set(texts(call))
    }
    assert found == {"neardup/files/durable.py"}


OWNERS = {
    "crawler/storage/": "the schema, and what all tables have",
    "crawler/pages/": "pages, their texts, links and parameters",
    "crawler/frontier/": "requests and what was met",
    "crawler/url_rules/": "rules and what they skip",
    "crawler/maintenance/": "all tables of directories that nobody crawls into",
    "crawler/mirror/file_table.py": "files",
    "crawler/mirror/mirror_files.py": "redirects, by which the file of a URL is found",
    "crawler/mirror/downloads.py": "downloads",
    "crawler/fleet/buffer.py": "requests that are leased",
    "crawler/watch/watch_store.py": "watch.db",
    "crawler/lab/labels.py": "labels",
    "crawler/warc/": "the index of an archive, and tables that live for a while",
}
"""Rooms and files with SQL, and the tables that are theirs."""


def test_each_table_is_asked_by_its_owner() -> None:
    """So that a question is asked once, and a column is changed in one place."""
    found = {
        path.relative_to(PROJECT).as_posix()
        for path in (PROJECT / "crawler").rglob("*.py")
        if has_sql(path.read_bytes())
    }
    owned = {owner: [path for path in found if path.startswith(owner)] for owner in OWNERS}
    assert found - set(chain.from_iterable(owned.values())) == set()
    assert all(owned.values()), "a reason for nothing"


@pytest.mark.parametrize(
    ("line", "is_sql"),
    [
        ('read("SELECT id FROM files")', True),
        ('_SQL = f"SELECT {COLUMNS} FROM files"', True),
        ('write("INSERT OR REPLACE INTO known VALUES (?)")', True),
        ("sql = f\"UPDATE files SET state = '{LINK}'\"", True),
        ('write("DELETE FROM files WHERE id = ?")', True),
        ('"""Run INSERT INTO files."""', False),
        ('say("select a page")', False),
    ],
)
def test_statements_of_sql_are_seen(line: str, is_sql: bool) -> None:
    assert has_sql(line.encode()) == is_sql


@pytest.mark.parametrize(
    "line",
    [
        'path.open("wb")', 'open(path, "a")', 'open(path, mode="r+b")', 'path.write_text("x")',
        "shutil.copyfile(a, b)", "os.open(path, os.O_CREAT | os.O_WRONLY)", 'ZipFile(path, "w")',
    ],
)  # fmt: skip
def test_other_ways_are_seen(line: str) -> None:
    (call,) = (node for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Call))
    assert is_writing(call)


STARTERS = {
    "neardup/installing.py": "the one way",
    "crawler/watch/delivery.py": "the command that the user names",
    "neardup/batch/spark_session.py": "asks Java for its version",
}
"""Files that start processes, and why."""

_STARTS = frozenset({
    "Popen", "run", "call", "check_call", "check_output", "system", "popen", "get_context",
    "Process", "Pool", "ProcessPoolExecutor", "create_subprocess_exec", "create_subprocess_shell",
    "start_new_process", "execv", "execve", "spawnProcess", "ensure_running", "set_start_method",
})  # fmt: skip
_STARTING = frozenset({"subprocess", "os", "multiprocessing", "asyncio", "reactor", "forkserver",
                       "context", "resource_tracker"})  # fmt: skip


def is_starting(call: ast.Call) -> bool:
    name, module = name_of(call), module_of(call)
    if name == "run" and module != "subprocess":
        return False
    if name.startswith(("spawn", "exec", "posix_spawn")) and module == "os":
        return True
    return name in _STARTS and (module in _STARTING or name in {"Popen", "ProcessPoolExecutor"})


def test_processes_are_started_in_one_way() -> None:
    """So that no Python of ours takes modules from the working folder."""
    found = {f"{path}:{call.lineno}" for path, call in calls() if is_starting(call)}
    assert {place for place in found if place.partition(":")[0] not in STARTERS} == set()
    assert {place.partition(":")[0] for place in found} == set(STARTERS), "a reason for nothing"


def test_no_other_file_names_the_interpreter() -> None:
    """Whoever names it starts it, or tells another program to."""
    found = {
        path.relative_to(PROJECT).as_posix()
        for package in ("crawler", "neardup")
        for path in (PROJECT / package).rglob("*.py")
        if "sys.executable" in path.read_text(encoding="utf-8")
    }
    assert found == {
        "neardup/installing.py",
        "neardup/batch/spark_session.py",
    }
