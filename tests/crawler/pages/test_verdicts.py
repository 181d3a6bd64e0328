"""Sets of verdicts as SQL lists them, in the indexes of pages and in queries."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from crawler.pages.verdicts import KEPT, ORIGINALS, OUTCOMES, VERDICTS, listed
from crawler.storage.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def tables() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("index", "query"),
    [
        (
            "pages_payload",
            f"SELECT id FROM pages WHERE payload_digest = ? AND verdict IN ({listed(ORIGINALS)})",
        ),
        (
            "pages_fingerprint",
            "SELECT id, fingerprint FROM pages WHERE id > ? AND fingerprint IS NOT NULL"
            f" AND verdict IN ({listed(KEPT)})",
        ),
    ],
)
def test_indexes_of_pages_answer_queries_for_sets_of_verdicts(
    tables: sqlite3.Connection, index: str, query: str
) -> None:
    (plan,) = tables.execute(f"EXPLAIN QUERY PLAN {query}", (0,)).fetchall()
    assert index in plan[-1]


def test_verdicts_are_listed_in_their_order_and_other_words_by_name() -> None:
    assert listed(frozenset({"too_short", "new"})) == "'new', 'too_short'"
    assert listed(VERDICTS) == ", ".join(f"'{verdict}'" for verdict in VERDICTS)
    assert listed(OUTCOMES).endswith("'failed', 'forbidden', 'gone', 'moved'")
