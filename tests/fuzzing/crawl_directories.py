"""Crawl directories of others: damaged files through ``verify``, and stored values of all kinds."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from crawler.frontier.request_records import (
    MalformedRequestError,
    decode_parts,
    encode_parts,
)
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.verify.verification import Further, repair, verify
from crawler.reading.content.content_text import shown_text
from crawler.reading.content.content_xml import ContentError, compress
from crawler.storage.errors import JobError
from neardup.errors import NearDupError
from tests.crawler.maintenance.verify.crawled import damaging, make
from tests.fuzzing.target import Target
from tests.no_watch import NoWatch

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzzing.target import Read

_NUMBER_BYTES = 4


def _template(folder: Path) -> Path:
    """Return a crawl directory with a row for each kind of thing that a crawl stores."""
    made = folder / "template"
    if not made.exists():
        make(made)
        with closing(sqlite3.connect(made / "crawl.db")) as connection:
            # One file, so that damage is where it was put.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("PRAGMA journal_mode = DELETE")
    return made


def _copied(folder: Path) -> Path:
    job = folder / "job"
    shutil.rmtree(job, ignore_errors=True)
    return shutil.copytree(_template(folder), job)


def _verify(job: Path, *, is_repaired: bool) -> None:
    with closing(CrawlDirectory(job)) as directory:
        found = verify(directory, NoWatch(), Further(deep=True))
        found.to_dict()
        if is_repaired:
            repair(directory, NoWatch())


def _begin_flipped(folder: Path) -> Read:
    """Change bytes of a file of the directory: each change is a place and a value."""
    files = sorted(
        path.relative_to(_template(folder))
        for path in _template(folder).rglob("*")
        if path.is_file() and path.stat().st_size
    )

    def read(data: bytes) -> None:
        job = _copied(folder)
        name = files[(data[:1] or b"\0")[0] % len(files)]
        content = bytearray((job / name).read_bytes())
        for at in range(2, len(data) - _NUMBER_BYTES, _NUMBER_BYTES + 1):
            place = int.from_bytes(data[at : at + _NUMBER_BYTES], "big") % len(content)
            content[place] = data[at + _NUMBER_BYTES]
        (job / name).write_bytes(content)
        _verify(job, is_repaired=bool(data[1:2] > b"\x7f"))

    return read


def _flips() -> list[bytes]:
    change = b"".join(bytes([0, 0, place, place * 7 % 256, 255 - place]) for place in range(8))
    return [bytes([number, half]) + change for number in range(16) for half in (0, 255)]


def _begin_values(folder: Path) -> Read:
    """Store a value of any kind in one column of a table: its number, the kind, the value."""
    with closing(sqlite3.connect(_template(folder) / "crawl.db")) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        columns = [
            (table, row[1])
            for (table,) in tables.fetchall()
            for row in connection.execute(f'PRAGMA table_info("{table}")')
        ]

    def read(data: bytes) -> None:
        if len(data) < 3:
            return
        table, column = columns[data[0] % len(columns)]
        job = _copied(folder)
        sql = f'UPDATE OR IGNORE "{table}" SET "{column}" = {_KINDS[data[1] % 5]}'
        with damaging(job) as connection, suppress(sqlite3.Error, OverflowError, ValueError):
            connection.execute(sql, (data[2:],))
        _verify(job, is_repaired=bool(data[1] > 0x7F))

    return read


_KINDS = ("?", "CAST(? AS TEXT)", "CAST(? AS INTEGER)", "CAST(? AS REAL)", "NULLIF(?, x'')")


def _values() -> list[bytes]:
    values = (b"", b"-1", b"9223372036854775807", b"1e999", b"{}", b"\xff\xfe", b"http://[", b"new")
    return [
        bytes([number, kind]) + value
        for number in range(0, 250, 7)
        for kind, value in zip((0, 1, 2, 3, 128, 129, 130, 131), values, strict=True)
    ]


def _begin_contents(_: Path) -> Read:
    """Read stored contents and parts of requests."""

    def read(data: bytes) -> None:
        with suppress(ContentError):
            shown_text(data)
        with suppress(ContentError):
            shown_text(compress(data))
        with suppress(MalformedRequestError):
            encode_parts(decode_parts(data))

    return read


def _contents() -> list[bytes]:
    body = (
        b'<body><head rend="h1">A</head><p>b<ref target="c">d</ref></p><list><item>e</item></list>'
    )
    table = b"<table><row><cell>f</cell></row></table><graphic src='g'/><code>h</code></body>"
    return [body + table, compress(body + table), b'{"meta": {"depth": 1}, "callback": "parse"}']


_REFUSALS = (JobError, NearDupError)
TARGETS = (
    Target("crawl.db-flipped", _flips, _begin_flipped, _REFUSALS, 512, 30),
    Target("crawl.db-values", _values, _begin_values, _REFUSALS, 512, 30),
    Target("stored-contents", _contents, _begin_contents, max_bytes=8192),
)
