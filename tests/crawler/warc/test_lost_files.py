"""What an archive records where its files were removed, cut or replaced."""

from __future__ import annotations

import asyncio
import os
import random
from typing import TYPE_CHECKING

import pytest

from crawler.warc.archive import Archive
from crawler.warc.index_and_pack import losses
from crawler.warc.record_reading import read_records
from tests.crawler.warc.exchanges import (
    HTML,
    MAX_COUNT,
    START,
    exchange,
    kinds,
    record_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.warc.record_reading import WholeRecord


def removed(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size * 2 // 3)


def cut_in_the_middle_of_the_first_record(file: Path) -> None:
    os.truncate(file, 300)


def zeroed(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(size // 3)
        opened.write(bytes(size // 3))


def emptied(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def replaced_by_another(file: Path) -> None:
    record_all(file.parent / "other", exchange("/x", random.Random(2).randbytes(9_000)))
    (other,) = (file.parent / "other").glob("*.gz")
    other.replace(file)


def made_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


LOSSES = [
    removed, cut, cut_in_the_middle_of_the_first_record, zeroed, emptied, replaced_by_another,
    made_a_pipe,
]  # fmt: skip


BODY = random.Random(1).randbytes(8_000)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
class TestLostFiles:
    """What was lost is recorded again: no record names what is nowhere."""

    def lose(self, folder: Path, loss: Callable[[Path], None]) -> Archive:
        etag = (b"ETag", b'"1"')
        record_all(folder, exchange("/a", BODY, headers=(*HTML, etag)))
        (file,) = folder.glob("*.warc.gz")
        loss(file)
        return Archive(folder, "again")

    def recorded_again(self, folder: Path) -> list[WholeRecord]:
        found: list[WholeRecord] = []
        for file in folder.glob("again*.warc.gz"):
            with file.open("rb") as opened:
                found += read_records(opened, pytest.fail, max_bytes=MAX_COUNT)
        return [record for record in found if record.kind in {"response", "revisit", "resource"}]

    def test_a_body_is(self, tmp_path: Path, loss: Callable[[Path], None]) -> None:
        archive = self.lose(tmp_path, loss)
        archive.record(exchange("/a", BODY, secs=5))
        archive.record(exchange("/b", BODY, secs=6))
        archive.close()
        first, second = self.recorded_again(tmp_path)
        assert (first.kind, first.payload) == ("response", BODY)
        assert second.field("WARC-Refers-To-Date") == first.field("WARC-Date")

    def test_a_large_body_is(self, tmp_path: Path, loss: Callable[[Path], None]) -> None:
        archive = self.lose(tmp_path, loss)
        (tmp_path / "body").write_bytes(BODY)
        with (tmp_path / "body").open("rb") as file:
            large = exchange("/large", BODY[:9], file=file)
            asyncio.run(archive.record_large(large))
            asyncio.run(archive.record_large(large))
        archive.close()
        first, second = self.recorded_again(tmp_path)
        assert (first.kind, first.payload, second.kind) == ("response", BODY, "revisit")

    def test_not_modified_is_not_asked_for(
        self, tmp_path: Path, loss: Callable[[Path], None]
    ) -> None:
        archive = self.lose(tmp_path, loss)
        assert not asyncio.run(archive.holds("http://example.org/a", ('"1"', "")))
        archive.record(exchange("/a", b"", status=304))
        archive.close()
        assert [found.kind for found in self.recorded_again(tmp_path)] == ["response"]

    def test_it_is_told(self, tmp_path: Path, loss: Callable[[Path], None]) -> None:
        self.lose(tmp_path, loss).close()
        # A whole file lacks nothing, unless a revisit names what was in its place.
        assert bool(list(losses(tmp_path, deep=True))) is (loss is not replaced_by_another)
        is_as_long = loss in {zeroed, emptied, replaced_by_another}
        assert bool(list(losses(tmp_path, deep=False))) is not is_as_long


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_picture_that_was_lost_is_recorded_again(
    tmp_path: Path, loss: Callable[[Path], None]
) -> None:
    archive = Archive(tmp_path, "test")
    archive.record_view("http://x/a", START, BODY)
    archive.close()
    (file,) = tmp_path.glob("*.warc.gz")
    loss(file)
    archive = Archive(tmp_path, "again")
    archive.record_view("http://x/a", START, BODY)
    archive.record_view("http://x/a", START, BODY)
    archive.close()
    (file,) = tmp_path.glob("again*.warc.gz")
    with file.open("rb") as opened:
        assert kinds(list(read_records(opened, pytest.fail))) == ["warcinfo", "resource"]
