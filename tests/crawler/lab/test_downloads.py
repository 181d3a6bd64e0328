"""The pages that a trial judges otherwise, and labels, as files."""

from __future__ import annotations

import csv
import io
import json

import pytest

from crawler.lab.app.tables import (
    CSV,
    JSON_LINES,
    changed_pages,
    table_bytes,
)
from crawler.lab.judgement import Choice
from crawler.lab.labels import import_labels, label_fields, label_of
from neardup import jaccard
from tests.crawler.lab.pages import Book, Made
from tests.neardup.texts import changed, prose


class TestChangedPages:
    def test_a_page_that_would_be_kept_names_what_it_repeats_now(self) -> None:
        text = prose(1, 200)
        other = changed(text, 1, 2)
        session = Book([Made(one) for one in (text, other, prose(2, 200))]).session()
        strict, loose = (
            session.judge(Choice().with_parameters(min_similarity=1.0)),
            session.judge(Choice()),
        )
        (row,) = changed_pages(strict, loose, session.pages)
        assert row["url"] == session.pages[1].url
        assert row["repeats"] == session.pages[0].url
        assert (row["tried"], row["layer_stored"], row["layer_tried"]) == ("kept", "simhash", "new")
        assert row["similarity"] == pytest.approx(jaccard(text, other), abs=1e-6)
        (back,) = changed_pages(loose, strict, session.pages)
        assert {**row, "tried": "dropped", "layer_stored": "new", "layer_tried": "simhash"} == back

    def test_both_files_hold_the_same_rows(self) -> None:
        rows: list[dict[str, object]] = [
            {"url": "http://a.example/?a=1,2", "title": 'A "b"\nc\ud800', "similarity": 0.7996},
            {"url": "", "title": "=1+1", "similarity": None},
        ]
        lines = [json.loads(line) for line in table_bytes(rows, JSON_LINES).splitlines()]
        assert lines == rows
        read = list(csv.DictReader(io.StringIO(table_bytes(rows, CSV).decode(), newline="")))
        assert [row["url"] for row in read] == [row["url"] for row in rows]
        assert read[0]["title"] == 'A "b"\nc?'
        assert [row["similarity"] for row in read] == ["0.7996", ""]

    def test_no_rows_are_an_empty_table(self) -> None:
        assert table_bytes([], JSON_LINES) == b""
        assert table_bytes([], CSV).strip() == b""


def test_labels_are_lines_of_a_file_of_labels() -> None:
    session = Book([Made(one) for one in (prose(1, 60), prose(2, 60))]).session()
    label = label_of(*session.pages, is_duplicate=False)
    written = table_bytes([label_fields(label)], JSON_LINES).decode()
    (read,) = import_labels(written.splitlines(), "labels")
    assert (read.pair, read.is_duplicate) == (label.pair, False)
