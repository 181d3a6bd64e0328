"""Labels, in a crawl directory and beside a file."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.crawl_source import SourceError
from crawler.lab.labels import (
    Label,
    LabelError,
    export_labels,
    import_labels,
    label_of,
    read_labels,
    remove_label,
    store_labels,
)
from tests.crawler.lab.pages import Book, Made
from tests.crawler.pages.test_capture import LONG, html
from tests.crawler.pages.test_revisits import Visiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

A, B, C = b"a" * 16, b"b" * 16, b"c" * 16


def label(first: bytes = A, second: bytes = B, *, is_duplicate: bool = True) -> Label:
    return Label(first, second, is_duplicate, "http://a/", "http://b/", 1_700_000_000.25)


@pytest.fixture(params=["crawl", "file", "folder", "several"])
def paths(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Path]]:
    """Each kind; the crawl is running."""
    visiting = Visiting(tmp_path / "job")
    visiting.get("/a", html(LONG))
    # What the crawl has not committed yet would keep everybody else from writing.
    visiting.job.commit()
    (tmp_path / "pages.jsonl").touch()
    (tmp_path / "warc").mkdir()
    names = {"crawl": ["job"], "file": ["pages.jsonl"], "folder": ["warc"]}
    yield [tmp_path / name for name in names.get(request.param, ["job", "pages.jsonl"])]
    visiting.close()


class TestLabels:
    def test_what_was_said_is_there_for_whoever_comes_later(self, paths: list[Path]) -> None:
        store_labels(paths, [label()])
        for path in paths:
            assert read_labels([path]) == [label()]
        assert read_labels(paths) == [label()]

    def test_second_thoughts_take_the_place_of_first_ones(self, paths: list[Path]) -> None:
        store_labels(paths, [label()])
        store_labels(paths, [label(is_duplicate=False)])
        assert read_labels(paths) == [label(is_duplicate=False)]

    def test_label_is_taken_back_in_either_order(self, paths: list[Path]) -> None:
        store_labels(paths, [label(), label(A, C)])
        for _ in range(2):
            remove_label(paths, B, A)
            assert read_labels(paths) == [label(A, C)]

    def test_there_are_none_at_first(self, paths: list[Path]) -> None:
        assert read_labels(paths) == []
        remove_label(paths, A, B)
        assert read_labels(paths) == []


def test_of_several_sources_the_newest_word_counts(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    older = Label(A, B, True, "", "", 5.0)
    newer = Label(A, B, False, "", "", 6.0)
    store_labels([one], [newer])
    store_labels([other], [older])
    assert read_labels([one, other]) == [newer]


def test_pages_are_labelled_by_their_texts() -> None:
    one, two, again = Book([Made("one"), Made("two"), Made("ONE")]).pages()
    said = label_of(one, two, is_duplicate=False)
    assert said.pair == label_of(two, one, is_duplicate=False).pair
    assert said.first < said.second
    urls = {said.first: said.first_url, said.second: said.second_url}
    assert urls == {one.text_digest: one.url, two.text_digest: two.url}
    with pytest.raises(LabelError, match="say the same, word for word"):
        label_of(one, again, is_duplicate=True)


def test_labels_that_cannot_be_kept_are_named(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    (tmp_path / "pages.jsonl.labels.jsonl").write_text("[1]\n")
    for deed in (lambda: read_labels([path]), lambda: store_labels([path], [label()])):
        with pytest.raises(SourceError, match=r"labels\.jsonl, line 1: no label: an object"):
            deed()
    assert (tmp_path / "pages.jsonl.labels.jsonl").read_text() == "[1]\n"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "no label: Expecting"),
        ("[" * 100_000, "no label: "),
        ('{"first": "00", "second": "01"}', "a text digest of 32 digits"),
        ('{"first": 5}', '"first" must be a text'),
        (
            json.dumps({"first": A.hex(), "second": B.hex(), "label": "perhaps"}),
            "one of duplicate, different, got 'perhaps'",
        ),
        (
            json.dumps({"first": A.hex(), "second": A.hex(), "label": "different"}),
            "the same text",
        ),
        (
            json.dumps(
                {"first": A.hex(), "second": B.hex(), "label": "different", "labelled_at": "soon"}
            ),
            '"labelled_at" must be a time',
        ),
    ],
)
def test_line_that_is_no_label_is_refused(line: str, complaint: str) -> None:
    with pytest.raises(LabelError, match=f"^here, line 2: .*{complaint}"):
        list(import_labels(["\n", line], "here"))


def test_digests_in_the_wrong_order_keep_their_urls() -> None:
    fields = {"first": B.hex(), "second": A.hex(), "label": "different", "first_url": "b"}
    (found,) = import_labels([json.dumps(fields)], "here")
    assert (found.first, found.second) == (A, B)
    assert (found.first_url, found.second_url) == ("", "b")


class TestExportProperties:
    @given(
        st.sets(st.binary(min_size=16, max_size=16), min_size=2, max_size=2),
        st.booleans(),
        st.text(st.characters()),
        st.integers(0, 4_000_000_000),
    )
    def test_what_is_exported_is_imported(
        self, digests: set[bytes], is_duplicate: bool, url: str, when: int
    ) -> None:
        first, second = sorted(digests)
        wanted = Label(first, second, is_duplicate, url, "", float(when))
        file = io.StringIO()
        export_labels([wanted], file)
        file.getvalue().encode()
        assert list(import_labels(file.getvalue().splitlines(), "here")) == [wanted]
