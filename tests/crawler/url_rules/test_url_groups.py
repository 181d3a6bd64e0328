"""Which request stands for an address, and what is known of what was there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.pages.page_row import PageRow
from crawler.storage.database import Database
from crawler.url_rules.learning.evidence import UNREAD, PageContent, agreement
from crawler.url_rules.url_groups import MAX_TRIES, UrlGroup, UrlGroups, content_of
from tests.crawler.storage.counting import rows_written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GROUP, KEY, OTHER = b"f" * 16, b"k" * 16, b"o" * 16
SAID = PageContent(b"w" * 16, 3, 1.0, 3)


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[UrlGroups]:
    database = Database(tmp_path)
    yield UrlGroups(database)
    database.close()


def test_what_was_never_met_is_unknown(groups: UrlGroups) -> None:
    assert groups.get(GROUP) is None


def test_the_first_request_stands(groups: UrlGroups) -> None:
    groups.claim(GROUP, 1, KEY)
    groups.claim(GROUP, 1, OTHER)
    known = groups.get(GROUP)
    assert known is not None
    assert (known.key, known.content, known.wants_another) == (KEY, None, False)


def test_what_another_request_found_is_noted_beside_it(groups: UrlGroups) -> None:
    groups.claim(GROUP, 1, KEY)
    groups.note(GROUP, 1, OTHER, SAID, visit=2)
    known = groups.get(GROUP)
    assert known is not None
    assert (known.key, known.content, known.visit) == (KEY, SAID, 2)


def test_without_a_page_some_more_are_wanted_one_at_a_time(groups: UrlGroups) -> None:
    groups.claim(GROUP, 1, KEY)
    wanted = []
    for _ in range(MAX_TRIES + 2):
        groups.note_failure(GROUP, visit=1)
        known = groups.get(GROUP)
        assert known is not None
        wanted.append(known.wants_another)
        if known.wants_another:
            groups.note_try(GROUP)
            tried = groups.get(GROUP)
            assert tried is not None
            assert not tried.wants_another, "one is under way"
    assert wanted == [True] * MAX_TRIES + [False] * 2


def test_a_page_that_was_found_is_not_lost_by_a_later_failure(groups: UrlGroups) -> None:
    groups.note(GROUP, 1, KEY, SAID, visit=1)
    groups.note_failure(GROUP, visit=2)
    groups.note_try(GROUP)
    known = groups.get(GROUP)
    assert known is not None
    assert (known.content, known.visit, known.tries, known.wants_another) == (SAID, 1, 0, False)


def test_hosts_are_forgotten_apart(groups: UrlGroups) -> None:
    groups.claim(GROUP, 1, KEY)
    groups.claim(OTHER, 2, KEY)
    groups.mark_explored(OTHER)
    groups.forget(1)
    assert groups.get(GROUP) is None
    other = groups.get(OTHER)
    assert other is not None
    assert other.is_explored
    groups.clear()
    assert groups.get(OTHER) is None


GROUPS = [number.to_bytes(16) for number in range(6)]
CHANGES = st.sampled_from(
    [
        lambda groups, group: groups.claim(group, group[-1] % 2, KEY),
        lambda groups, group: groups.stand(group, OTHER),
        lambda groups, group: groups.note(group, group[-1] % 2, KEY, SAID, 1),
        lambda groups, group: groups.note_failure(group, 2),
        lambda groups, group: groups.note_try(group),
        lambda groups, group: groups.mark_explored(group),
        lambda groups, group: groups.note_tested(group, [frozenset([(1, 0, "x")])]),
        lambda groups, group: groups.forget(group[-1] % 2),
        lambda groups, group: groups.get(group),
    ]
)


class TestMemory:
    def test_nothing_is_asked_of_a_new_table_and_one_statement_writes_all(
        self, tmp_path: Path
    ) -> None:
        database = Database(tmp_path)
        groups, asked = UrlGroups(database), list[str]()
        database._connection.set_trace_callback(asked.append)
        for group in GROUPS:
            groups.claim(group, 1, KEY)
            groups.note(group, 1, KEY, SAID, visit=1)
        assert asked == []
        before = rows_written(database)
        database.commit()
        assert rows_written(database) - before == len(GROUPS)
        database.close()

    def test_it_is_committed_with_the_pages_or_not_at_all(self, tmp_path: Path) -> None:
        database = Database(tmp_path)
        groups = UrlGroups(database)
        groups.claim(GROUP, 1, KEY)
        database.commit()
        groups.note(GROUP, 1, KEY, SAID, visit=1)
        groups.claim(OTHER, 1, OTHER)
        groups.write()
        database.fail("killed")
        database.close()
        database = Database(tmp_path)
        groups = UrlGroups(database)
        assert groups.get(GROUP) == UrlGroup(1, KEY)
        assert groups.get(OTHER) is None
        database.close()

    def test_what_others_change_is_read_again(self, tmp_path: Path) -> None:
        database = Database(tmp_path)
        groups = UrlGroups(database)
        groups.note(GROUP, 1, KEY, SAID, visit=1)
        sql = "UPDATE url_groups SET page = ? WHERE page = ?"
        database.flush("url_groups")
        database.write(sql, (9, SAID.page))
        known = groups.get(GROUP)
        assert known is not None
        assert known.content == SAID._replace(page=9)
        groups.mark_explored(GROUP)
        assert groups.get(OTHER) is None
        database.commit()
        assert database.read("SELECT page, explored FROM url_groups").fetchall() == [(9, 1)]
        database.close()

    @given(
        changes=st.lists(st.tuples(CHANGES, st.sampled_from(GROUPS)), max_size=30),
        held=st.integers(2, 4),
    )
    def test_a_bounded_part_of_it_answers_as_all_of_it(
        self, changes: list[tuple[Callable[[UrlGroups, bytes], None], bytes]], held: int
    ) -> None:
        databases = Database(None), Database(None)
        few, all_of_them = UrlGroups(databases[0], held), UrlGroups(databases[1])
        for change, group in changes:
            change(few, group)
            change(all_of_them, group)
            assert len(few._held) <= held
            assert [few.get(one) for one in GROUPS] == [all_of_them.get(one) for one in GROUPS]
        few.write()
        all_of_them.write()
        rows = [database.read("SELECT * FROM url_groups").fetchall() for database in databases]
        assert rows[0] == rows[1]


def row(**values: object) -> PageRow:
    plain = PageRow(
        id=5, key=KEY, url="", canonical_url="", latest=1, visit=1, fetched_at=0, seen_visit=1,
        seen_at=0, depth=0, status=200,
    )  # fmt: skip
    for name, value in values.items():
        setattr(plain, name, value)
    return plain


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (row(words=9, words_digest=b"w", text=b"x"), PageContent(b"w", 5, 1.0, 5, 0)),
        (
            row(
                verdict="near_duplicate",
                text_digest=b"t",
                words=9,
                words_digest=b"w",
                duplicate_of=3,
                similarity=0.9,
            ),
            PageContent(b"w", 3, 0.9, 5, 0),
        ),
        (
            row(
                verdict="near_duplicate",
                text_digest=b"t",
                words=9,
                words_digest=b"w",
                duplicate_of=3,
            ),
            PageContent(b"w", 3, 0.0, 5, 0),
        ),
        (
            row(words=0, words_digest=b"w", text_digest=b"t", text=b"x"),
            PageContent(b"t", 5, 1.0, 5, 0),
        ),
        (
            row(words=0, words_digest=b"w", text_digest=b"p", payload_digest=b"p", text=b"x"),
            PageContent(b"p", 5, UNREAD, 5, 0),
        ),
        (
            row(
                verdict="exact_duplicate",
                words=0,
                words_digest=b"w",
                text_digest=b"p",
                payload_digest=b"p",
                duplicate_of=3,
            ),
            PageContent(b"p", 3, UNREAD, 5, 0),
        ),
        (
            row(verdict="not_html", payload_digest=b"p", body_bytes=1),
            PageContent(b"p", 5, 1.0, 5, None, is_file=True),
        ),
        (
            row(verdict="exact_duplicate", payload_digest=b"p", body_bytes=1, duplicate_of=3),
            PageContent(b"p", 3, 0.0, 5, None, is_file=True),
        ),
        (row(verdict="not_html", payload_digest=b"p"), None),
        (row(verdict="noindex", payload_digest=b"p", body_bytes=1), None),
        (row(words_digest=b"w"), None),
        (row(text=b"x"), None),
        (row(), None),
    ],
)
def test_what_a_page_said(page: PageRow, said: PageContent | None) -> None:
    assert content_of(page) == said


def test_bytes_of_a_page_that_was_not_read_speak_against_no_rule() -> None:
    unread = PageContent(b"p" * 16, 5, UNREAD, 5)
    assert agreement(unread, SAID) is None
    assert agreement(SAID, unread) is None
    assert agreement(unread, unread._replace(words=b"q" * 16, kept=6)) is None
    assert agreement(unread, unread._replace(kept=6)) is True
    assert agreement(SAID, SAID._replace(words=b"q" * 16, kept=6)) is False
