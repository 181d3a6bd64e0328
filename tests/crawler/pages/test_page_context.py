"""What is known of a page while it is captured: its last capture is read once, and is never old."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.pages.page_context import PageContext
from crawler.pages.page_row import COLUMNS, PageRow, row_of
from crawler.pages.page_store import PageStore
from crawler.pages.promotion import Promotion
from crawler.pages.reasons import Reason
from crawler.reading.reading import Reading
from neardup import Deduplicator, Parameters
from tests.crawler.maintenance.rejudge.captured import Said
from tests.crawler.pages.sharing import OneMemory, fleet
from tests.crawler.pages.test_capture import LONG, OTHER, fetched, html
from tests.crawler.pages.test_revisits import OPTIONS, PDF, Visiting, visiting
from tests.crawler.pages.test_sharing import said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from crawler.job import Job

__all__ = ["visiting"]
NEAR = LONG + " One word."


@contextmanager
def statements_of(job: Job) -> Iterator[list[str]]:
    """The statements that are run on the database of a job meanwhile."""
    found: list[str] = []
    connection = job.database.read("SELECT 1").connection
    connection.set_trace_callback(found.append)
    yield found
    connection.set_trace_callback(None)


def looks_at_last_capture(statements: list[str]) -> int:
    """Count the statements that read the whole row of a page's last capture."""
    wanted = [sql for sql in statements if sql.startswith("SELECT id, key, url")]
    return sum("WHERE key = " in sql for sql in wanted)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, html(LONG)),
        (html(LONG), html(LONG)),
        (html(LONG), html(LONG) + b"<!-- a visit -->"),
        (html(LONG), html(OTHER)),
        (html(OTHER), html(NEAR)),
        (html(OTHER), PDF),
        (PDF, PDF),
    ],
    ids=["new", "same bytes", "same text", "changed", "near-duplicate", "file", "same file"],
)
def test_last_capture_of_a_page_is_read_once(
    visiting: Visiting, before: bytes | None, after: bytes
) -> None:
    visiting.get("/kept", html(LONG))
    if before is not None:
        visiting.get("/a", before)
    visiting.again()
    with statements_of(visiting.job) as statements:
        visiting.get("/a", after)
    # Of a page that was never there it is known that there is none.
    assert looks_at_last_capture(statements) == (before is not None), "\n".join(
        sql[:300] for sql in statements
    )


@pytest.mark.parametrize("text", [LONG, NEAR, OTHER])
def test_last_capture_of_a_page_is_read_once_in_a_fleet(tmp_path: Path, text: str) -> None:
    """The page of another crawl that is the original is another page."""
    with fleet([tmp_path / "one", tmp_path / "two"], OPTIONS, OneMemory(Parameters())) as jobs:
        one, two = jobs
        asyncio.run(said(one, "/kept", Said(LONG)))
        asyncio.run(said(two, "/a", Said("Few words.")))
        key = fetched(two, "/a", b"").key
        with statements_of(two) as statements:
            asyncio.run(said(two, "/a", Said(text)))
    of_page = [sql for sql in statements if f"'{key.hex()}'" in sql.lower()]
    assert looks_at_last_capture(of_page) == 1, "\n".join(sql[:200] for sql in of_page)


@pytest.mark.parametrize(
    ("before", "most"), [((), 4), ((LONG,), 5)], ids=["new", "copy of the same bytes"]
)
def test_a_page_of_a_first_visit_costs_few_statements(
    visiting: Visiting, before: tuple[str, ...], most: int
) -> None:
    visiting.get("/first", html(OTHER))
    for text in before:
        visiting.get("/kept", html(text))
    with statements_of(visiting.job) as statements:
        captured = visiting.get("/a", html(LONG))
    assert captured.is_duplicate is bool(before)
    # A trigger lets the statement be told once more.
    told = [
        sql
        for number, sql in enumerate(statements)
        if sql.startswith("SELECT") or sql not in statements[:number]
    ]
    assert len(told) <= most, "\n".join(sql[:200] for sql in told)


@pytest.mark.parametrize("way", ["inserted", "kept after all", "found again"])
def test_a_page_that_was_not_there_is_found_once_it_is_stored(visiting: Visiting, way: str) -> None:
    visiting.get("/kept", html(LONG))
    store, digests = visiting.job.store, (b"p" * 16, b"v" * 16)
    key = visiting.answer("/kept").key
    kept = store.previous(key)
    assert kept is not None
    assert store.find_payload(digests[0]) is None
    assert store.find_visible(digests[1]) is None
    other = replace(kept, id=store.new_id(), key=b"k" * 16)
    other.payload_digest, other.visible_digest = digests
    if way == "kept after all":
        store.insert(replace(other, verdict="text_duplicate", text=None))
        assert store.find_payload(digests[0]) is None
        store.store_verdict(other)
    elif way == "found again":
        store.insert(replace(other, payload_digest=b"o" * 16))
        assert store.find_payload(digests[0]) is None
        store.touch(other, 1, 1.0)
    else:
        store.insert(other)
    held = store.find_payload(digests[0])
    found = None if held is None else held.row
    is_long = kept.fingerprint is not None
    shown = store.find_shown(other, is_long=is_long, exclude=())
    assert [one.id for one in (found, shown) if one is not None] == [other.id, other.id]


@pytest.mark.parametrize("held", [0, 8, 12, 1_000])
def test_pages_are_found_however_many_digests_are_held(
    visiting: Visiting, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    visiting.get("/kept", html(LONG))
    kept = visiting.job.store.previous(visiting.answer("/kept").key)
    assert kept is not None
    monkeypatch.setattr("crawler.pages.page_store._MAX_DIGESTS", held)
    rows = [kept]
    for _ in range(3):
        store = PageStore(visiting.job.database, is_sole=True)
        for number in range(len(rows), len(rows) + 2):
            one = replace(kept, id=store.new_id(), key=b"%016d" % number)
            one.payload_digest, one.visible_digest, one.text_digest = (
                b"%s%015d" % (kind, number) for kind in (b"p", b"v", b"t")
            )
            assert (store.previous(one.key), store.find_payload(one.payload_digest)) == (None, None)
            store.insert(one)
            rows.append(one)
        for row in rows:
            held_row = store.find_payload(row.payload_digest or b"")
            found = (
                store.previous(row.key),
                None if held_row is None else held_row.row,
                store.find_visible(row.visible_digest or b""),
                store.find_by_digest(row.text_digest or b""),
            )
            assert [one.id for one in found if one is not None] == [row.id] * 4
            assert store.find_text(row.text_digest or b"", ()) == row.id


WRITES: dict[str, Callable[[PageStore, PageRow], object]] = {
    "insert": lambda store, row: store.insert(replace(row, id=store.new_id())),
    "failure": lambda store, row: store.insert(
        replace(row, id=store.new_id(), verdict="failed", text=None)
    ),
    "touch": lambda store, row: store.touch(replace(row, etag="new"), 7, 7.0),
    "note": lambda store, row: store.note(row.id, Reason.ERROR.stored("a remark")),
    "depth": lambda store, row: store.note_depth(row.key, 0),
    "texts": lambda store, row: store.drop_texts(row.key, 0),
    "forget": lambda store, row: store.forget(row.id),
    "original": lambda store, row: store.store_verdict(replace(row, distance=5)),
    "confirmed": lambda store, row: Promotion(store, Deduplicator(), 1).confirm(row),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_row_that_a_request_holds_is_never_old(
    visiting: Visiting, write: Callable[[PageStore, PageRow], object]
) -> None:
    """Whatever another request does meanwhile."""
    visiting.get("/kept", html(OTHER))
    for path in ("/kept", "/copy"):
        visiting.get(path, html(LONG))
    store, answer = visiting.job.store, replace(visiting.answer("/copy"), depth=3)
    page = PageContext(store, answer, b"", Reading(answer.url), obey_robots_meta=True)
    row = page.previous
    assert row is not None
    assert row.duplicate_of is not None
    write(store, replace(row))
    stored = visiting.job.database.read(
        f"SELECT {', '.join(COLUMNS)} FROM pages WHERE key = ? AND latest = 1", (row.key,)
    ).fetchone()
    assert page.previous == (None if stored is None else row_of(stored))


def test_two_requests_of_a_page_hold_one_row(visiting: Visiting) -> None:
    visiting.get("/a", html(LONG))
    answer, store = visiting.answer("/a"), visiting.job.store
    with statements_of(visiting.job) as statements:
        pages = [
            PageContext(store, answer, b"", Reading(answer.url), obey_robots_meta=True)
            for _ in range(2)
        ]
        assert pages[0].previous is pages[1].previous
    assert len(statements) == 1
