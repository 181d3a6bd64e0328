"""Whatever is damaged in a crawl directory, a command says so in one line, or does not need it."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import zstandard

from crawler.storage.database import Database
from tests.crawler.commands.in_process import run
from tests.crawler.maintenance.verify.crawled import check, check_and_repair, execute
from tests.crawler.maintenance.verify.whole_crawl import make_whole

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = (
    "pages {} -o {}.jsonl",
    "pages {} -o {}.csv --without-boilerplate",
    "pages {} -o {}-pages/",
    "pages {} --search words",
    "report {}",
    "report {} --links",
    "report {} --html {}.html",
    "links {}",
    "links {} -o {}.csv",
    "pairs {} --diff",
    "tune {}",
    "sweep {}",
    "rules {}",
    "compare --crawl {} http://example.com/a http://example.com/edited",
    "merge {} {}-merged",
    "rejudge {} --dry-run",
    "rejudge {}",
    "verify {}",
    "verify {} --repair",
)
NO_TEXT = "CAST(x'61ff62' AS TEXT)"
PACKED = zstandard.compress(b"no UTF-8: \xff\xfe. " * 40).hex()
DAMAGES = {
    **{
        f"{table}.{column}": f"UPDATE {table} SET {column} = {NO_TEXT}"
        for table, column in (
            *(("pages", name) for name in ("url", "canonical_url", "title", "name", "language")),
            *(("pages", name) for name in ("author", "metadata", "reason", "verdict", "page_type")),
            *(("known", name) for name in ("outcome", "reason", "moved_to", "referer")),
            *(("requests", "url"), ("redirects", "url"), ("parameters", "chosen")),
            *(("url_rules", "rule"), ("labels", "first_url"), ("name_slots", "slot")),
        )
    },
    **{
        f"packed {table}.{column}": f"UPDATE {table} SET {column} = x'{PACKED}'"
        f" WHERE {column} IS NOT NULL"
        for table, column in (
            *(("pages", "text"), ("pages", "content"), ("pages", "html")),
            *(("near_texts", "text"), ("near_texts", "content")),
            *(("links", "urls"), ("link_dictionary", "urls")),
        )
    },
    "no zstd": "UPDATE links SET urls = x'ff'",
    "no zstd in a text": "UPDATE pages SET text = x'00' WHERE text IS NOT NULL",
    "values of the crawl": f"UPDATE meta SET value = {NO_TEXT} WHERE name <> 'schema_version'",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "job"
    make_whole(folder)
    return folder


def run_all(template: Path, tmp_path: Path, sql: str | None, *, data: bytes = b"") -> None:
    folder = tmp_path / "job"
    for command in COMMANDS:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        if sql:
            execute(folder, sql)
        if data:
            (folder / "crawl.db").write_bytes(data)
        done = run(*(word.replace("{}", str(folder)) for word in command.split()))
        said = [line for line in done.stderr.splitlines() if ": no boilerplate is" not in line]
        assert done.returncode in {0, 1, 2}, command
        assert "Traceback" not in done.stdout + done.stderr, command
        if done.returncode and not command.startswith("verify"):
            assert len(said) == 1, (command, said)
        if command == "verify {}":
            assert done.returncode == 1


@pytest.mark.parametrize("name", DAMAGES)
def test_no_command_ends_in_a_traceback(name: str, template: Path, tmp_path: Path) -> None:
    run_all(template, tmp_path, DAMAGES[name])


def test_nor_where_pages_of_the_file_are_damaged(template: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(template / "crawl.db")) as connection:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = 'pages'"
        (page,) = connection.execute(sql).fetchone()
    data = bytearray((template / "crawl.db").read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    run_all(template, tmp_path, None, data=bytes(data))


def test_nor_that_of_a_mirror(tmp_path: Path) -> None:
    (tmp_path / ".mirror").mkdir()
    Database(tmp_path / ".mirror").close()
    execute(
        tmp_path / ".mirror",
        f"INSERT INTO files VALUES (1, x'00', 'http://a/', {NO_TEXT}, 'a', 'text/html', 0, 1, 1,"
        " x'00', 'own', NULL, 0, x'00', x'', NULL, NULL, 0, 0, 0)",
    )
    done = run("mirror", "check", str(tmp_path))
    assert done.returncode in {1, 2}
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_repair_that_meets_unreadable_texts_and_values_mends_both(
    template: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(template, tmp_path / "job")
    execute(folder, f"UPDATE pages SET text = x'00', title = {NO_TEXT} WHERE url LIKE '%/other'")
    assert check_and_repair(folder).findings == ()


def test_what_cannot_be_repaired_hinders_no_other_repair(template: Path, tmp_path: Path) -> None:
    """The spider is not one of ours: it has no queue of ours, where a lost text could be put."""
    folder = shutil.copytree(template, tmp_path / "job")
    execute(
        folder,
        "DELETE FROM meta WHERE name = 'plan'",
        "UPDATE pages SET text = x'00' WHERE url LIKE '%/other' AND latest = 1",
        "UPDATE pages SET fingerprint = 1 WHERE url LIKE '%/b' AND fingerprint IS NOT NULL",
    )
    check_and_repair(folder)
    assert {finding.rule for finding in check(folder).problems} == {"text-readable"}
