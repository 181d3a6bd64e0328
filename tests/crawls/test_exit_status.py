"""Each command of docs/exit_status.md ends with the status that stands before it."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crawler.warc.foreign import answer
from tests.crawls.command import PROJECT, crawl_once
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

TABLE = (PROJECT / "docs" / "exit_status.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| `([^`]+)` \|", TABLE, re.MULTILINE)
PAGES = 4


def run(words: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    program, *rest = words
    if program == "crawl-once":
        return crawl_once(*rest, cwd=cwd)
    return subprocess.run(
        [sys.executable, *rest],
        cwd=cwd, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Iterator[ChangingSite]:
    with ChangingSite() as served:
        served.put("/a", "a", links=["/b", "/missing"])
        served.put("/b", "b")
        served.fail("/missing", 404)
        yield served


@pytest.fixture(scope="module")
def words(site: ChangingSite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the words in capitals stand for."""
    folder = tmp_path_factory.mktemp("words")
    pages = [
        answer(f"/{number}", f"<title>{number}</title><p>{prose(str(number), 100)}".encode())
        for number in range(PAGES)
    ]
    files = {
        "DEEP": b"url = " + b"[" * 100_000,
        "DIGITS": b"[settings]\nDEPTH_LIMIT = " + b"1" * 5_000,
        "LIST": f"{site.origin}/a\n{site.origin}/b\n".encode(),
        "LIST-WITH-A-DEAD-URL": f"{site.origin}/a\n{site.origin}/missing\n".encode(),
        "LIST-WITH-A-BAD-LINE": f"{site.origin}/a\nhttp://[::1/\n".encode(),
        "ARCHIVE": b"".join(pages),
        "ARCHIVE-WITH-A-BAD-RECORD": answer("http://[/", b"<p>") + b"".join(pages),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    for name in ("ARCHIVES", "BAD-ARCHIVES", "FOLDER-WITH-A-BROKEN-LINK"):
        (folder / name).mkdir()
    (folder / "ARCHIVES" / "x.warc").write_bytes(files["ARCHIVE"])
    (folder / "BAD-ARCHIVES" / "x.warc").write_bytes(files["ARCHIVE-WITH-A-BAD-RECORD"])
    broken = folder / "FOLDER-WITH-A-BROKEN-LINK"
    (broken / "a.html").write_text(f"<p>{prose('a', 100)}")
    (broken / "gone.html").symlink_to(broken / "nowhere")
    rows = b"".join(
        json.dumps({"text": prose(str(each), 90)}).encode() + b"\n" for each in range(9)
    )
    (folder / "rows.jsonl").write_bytes(rows)
    (folder / "bad.jsonl.gz").write_bytes(gzip.compress(rows)[:-9])
    made = run(["crawl-once", "replay", "ARCHIVE", "CRAWL"], folder)
    assert made.returncode == 0, made.stderr
    for name, sql in (
        ("DAMAGED", "UPDATE pages SET text_digest = zeroblob(16) WHERE id = 1"),
        ("NOT-UTF-8", "UPDATE pages SET title = CAST(x'ff' AS TEXT)"),
        ("WITH-A-TRIGGER", "CREATE TRIGGER odd AFTER INSERT ON pages BEGIN SELECT 1; END"),
    ):
        copy = shutil.copytree(folder / "CRAWL", folder / name)
        with closing(sqlite3.connect(copy / "crawl.db", isolation_level=None)) as connection:
            connection.execute(sql)
    full = folder / "FULL"
    named = {"SITE": f"{site.origin}/a", "MISSING": f"{site.origin}/missing", "FULL": str(full)}
    named |= {"ROWS": "rows.jsonl", "BAD-ROWS": "bad.jsonl.gz", "FOLDER": str(folder)}
    try:
        full.symlink_to("/dev/full")
    except OSError:
        pytest.skip("no /dev/full")
    return named


@pytest.mark.parametrize(("status", "command"), ROWS, ids=[command for _, command in ROWS])
def test_each_command_ends_with_its_status(
    status: str, command: str, words: dict[str, str], tmp_path: Path
) -> None:
    given = [words.get(word, word) for word in shlex.split(command)]
    folder = Path(words["FOLDER"])
    if given[0] == "crawl-once" and given[1] in {"crawl", "urls", "replay", "mirror"}:
        is_named = len(given) > 2 and not given[2].startswith("-")
        given[3:3] = [str(tmp_path / "job")] if is_named else []
    given = [str(tmp_path / "new") if word == "NEW" else word for word in given]
    done = run(given, folder)
    assert done.returncode == int(status), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if status == "2":
        assert done.stderr.count("\n") <= 2, done.stderr
    if "FULL" in command:
        assert words["FULL"] in done.stderr
        assert Path(words["FULL"]).is_symlink(), "a device is no file to be replaced"
    if "TRIGGER" in command:
        assert "trigger odd" in done.stdout


def test_each_status_of_the_table_is_shown() -> None:
    assert {status for status, _ in ROWS} == {"0", "1", "2"}
    assert len(ROWS) > 30


@pytest.mark.parametrize(
    "command", ["replay ARCHIVE {}", "merge CRAWL {}", "pages CRAWL -o {}.csv"]
)
def test_a_full_disk_gives_1_and_names_the_file(
    command: str, words: dict[str, str], tmp_path: Path
) -> None:
    """A limit on the size of files stands for the disk: SQLite's own files are larger at once."""
    place = tmp_path / "full"
    limit = "20000" if command.startswith("pages") else "40000"
    if shutil.which("prlimit") is None:
        pytest.skip("prlimit (util-linux) is not installed")
    copy = shutil.copytree(Path(words["FOLDER"], "CRAWL"), tmp_path / "CRAWL")
    if command.startswith("pages"):
        with closing(sqlite3.connect(copy / "crawl.db", isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("UPDATE pages SET title = ?", ("x" * 30_000,))
        for each in (copy, *copy.iterdir()):
            each.chmod(0o555 if each.is_dir() else 0o444)
        limit = "60000"
    given = command.format(place).replace("CRAWL", str(copy)).split()
    done = subprocess.run(
        ["prlimit", f"--fsize={limit}", sys.executable, "-m", "crawler", *given],
        cwd=words["FOLDER"], capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    copy.chmod(0o755)
    assert done.returncode == 1, done.stdout + done.stderr
    assert str(tmp_path) in done.stderr
    assert "Traceback" not in done.stderr


_WAITING = """
import asyncio, sys
from crawler.commands.crawl import CrawlSiteCommand
from crawler.program import _run
from crawler.spiders.site import SiteSpider

class Waiting(SiteSpider):
    async def first_requests(self):
        print("no request yet", file=sys.stderr, flush=True)
        await asyncio.sleep(3600)
        yield

class Command(CrawlSiteCommand):
    word = "crawl"
    spider = "__main__", "Waiting"

sys.exit(_run(Command(), sys.argv[1:]))
"""


def test_ctrl_c_before_the_first_request_is_queued_ends_with_130(
    site: ChangingSite, tmp_path: Path
) -> None:
    """As in the pause of ``--hours``: nothing waits in the queue, and nothing is done either."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WAITING, site.url, str(tmp_path / "crawl")],
        cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert any("no request yet" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
