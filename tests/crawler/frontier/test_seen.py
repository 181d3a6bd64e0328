"""The seen set over a real SQLite file and a real Bloom filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier import seen as seen_module
from crawler.frontier.order import NewRequest
from crawler.frontier.queue import RequestQueue
from crawler.frontier.seen import RecentDepths, SeenSet
from crawler.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path)
    yield database
    database.close()


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def test_a_key_is_new_once(database: Database, tmp_path: Path) -> None:
    seen = SeenSet(database, tmp_path / "seen.bloom")
    assert key(1) not in seen
    assert seen.add(key(1))
    assert not seen.add(key(1))
    assert key(1) in seen
    assert len(seen) == 1


def test_no_key_is_lost_to_a_false_positive_of_the_filter(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a filter that is nearly always wrong the exact set still decides."""
    monkeypatch.setattr(seen_module, "BLOOM_ERROR_RATE", 0.9)
    monkeypatch.setattr(seen_module, "BLOOM_CAPACITY", 10)
    seen = SeenSet(database, tmp_path / "seen.bloom")
    assert all(seen.add(key(n * 7919)) for n in range(500))
    assert len(seen) == 500


def test_keys_survive_a_clean_close(tmp_path: Path) -> None:
    with_keys(tmp_path, range(100), save=True)
    assert (tmp_path / "seen.bloom").exists()
    database = Database(tmp_path)
    seen = SeenSet(database, tmp_path / "seen.bloom")
    assert all(key(n) in seen for n in range(100))
    assert key(100) not in seen
    database.close()


def test_keys_survive_a_kill_and_the_filter_is_made_again(tmp_path: Path) -> None:
    with_keys(tmp_path, range(100), save=True)
    with_keys(tmp_path, range(100, 200), save=False)
    assert not (tmp_path / "seen.bloom").exists()
    database = Database(tmp_path)
    seen = SeenSet(database, tmp_path / "seen.bloom")
    assert all(key(n) in seen for n in range(200))
    assert len(seen) == 200
    database.close()


def test_a_damaged_filter_is_named_and_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with_keys(tmp_path, range(100), save=True)
    path = tmp_path / "seen.bloom"
    path.write_bytes(path.read_bytes()[:-10])
    database = Database(tmp_path)
    seen = SeenSet(database, path)
    assert all(key(n) in seen for n in range(100))
    assert "seen.bloom" in caplog.text
    database.close()


def test_recent_keys_are_forgotten_from_memory_and_found_in_the_table(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_module, "RECENT_KEYS", 10)
    seen = SeenSet(database, tmp_path / "seen.bloom")
    for n in range(100):
        seen.add(key(n))
    assert all(key(n) in seen for n in range(100))


def test_clear_forgets_everything(database: Database, tmp_path: Path) -> None:
    seen = SeenSet(database, tmp_path / "seen.bloom")
    seen.add(key(1))
    seen.clear()
    assert key(1) not in seen
    assert seen.add(key(1))


def test_a_key_that_is_discarded_is_new_again_unless_it_has_a_row(
    database: Database, tmp_path: Path
) -> None:
    seen = SeenSet(database, tmp_path / "seen.bloom")
    seen.add(key(1))
    database.commit()
    seen.add(key(2))
    for n in range(4):
        seen.discard(key(n))
    assert key(1) in seen
    assert key(2) not in seen
    assert len(seen) == 1
    assert seen.add(key(2))


def rows(database: Database) -> list[tuple[int, str, bytes]]:
    return database.read("SELECT state, url, key FROM requests ORDER BY id").fetchall()


def test_a_key_is_in_the_row_of_its_request(database: Database, tmp_path: Path) -> None:
    seen, queue = SeenSet(database, tmp_path / "seen.bloom"), RequestQueue(database)
    seen.add(key(1))
    queue.push(NewRequest(7, "http://x/", 0, b"", seen.take(key(1))))
    assert key(1) in seen
    assert seen.take(key(1)) is None
    assert not seen.add(key(1))
    database.commit()
    assert rows(database) == [(0, "http://x/", key(1))]


def test_a_key_without_a_request_is_a_row_that_is_done(database: Database, tmp_path: Path) -> None:
    seen, queue = SeenSet(database, tmp_path / "seen.bloom"), RequestQueue(database)
    seen.add(key(1))
    database.commit()
    assert rows(database) == [(2, "", key(1))]
    assert queue.is_untouched
    assert len(queue) == 0
    assert seen.take(key(1)) is None


def test_keys_without_requests_wait_in_a_bounded_number(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_module, "MAX_UNWRITTEN", 10)
    seen = SeenSet(database, tmp_path / "seen.bloom")
    for n in range(100):
        seen.add(key(n))
    assert len(rows(database)) == 90
    assert all(key(n) in seen for n in range(100))


def test_a_key_and_its_request_are_lost_together_or_not_at_all(tmp_path: Path) -> None:
    database = Database(tmp_path)
    seen, queue = SeenSet(database, None), RequestQueue(database)
    for n in range(6):
        seen.add(key(n))
        if n % 2:
            queue.push(NewRequest(7, f"http://x/{n}", 0, b"", seen.take(key(n))))
        if n == 3:
            database.commit()
    database.fail("killed")
    database.close()
    again = Database(tmp_path)
    known = SeenSet(again, None)
    assert [n for n in range(6) if key(n) in known] == [0, 1, 2, 3]
    assert len(RequestQueue(again)) == 2
    again.close()


def with_keys(folder: Path, numbers: range, *, save: bool) -> None:
    database = Database(folder)
    seen = SeenSet(database, folder / "seen.bloom")
    for n in numbers:
        seen.add(key(n))
    database.commit()
    if save:
        seen.save()
    database.close()


def test_keys_of_a_query_are_added_at_once(tmp_path: Path) -> None:
    database = Database(tmp_path)
    seen = SeenSet(database, tmp_path / "seen.bloom")
    rows = [(bytes([n]) * 16, "", bytes(16)) for n in range(5)]
    database.write_many("INSERT INTO redirects VALUES (?, ?, ?, '')", rows)
    seen.add(rows[1][0])
    seen.add_selected("SELECT key, 3 AS depth FROM redirects WHERE key > ?", (rows[0][0],))
    assert seen.depth(rows[4][0]) == 3
    assert len(seen) == 4
    assert [key in seen for key, _, _ in rows] == [False, True, True, True, True]
    assert not seen.add(rows[3][0])
    seen.save()
    database.close()
    again = Database(tmp_path)
    assert len(SeenSet(again, tmp_path / "seen.bloom")) == 4
    again.close()


class TestRecentDepthsProperties:
    @given(st.lists(st.text("abcdefgh", min_size=1, max_size=1)))
    def test_a_url_is_new_the_first_time_and_known_while_it_is_recent(
        self, urls: list[str]
    ) -> None:
        recent = RecentDepths[str](size=4)
        for place, url in enumerate(urls):
            is_new = recent.is_new(url, 1)
            if url not in urls[:place]:
                assert is_new
            if url in urls[max(0, place - 4) : place]:
                assert not is_new, "met within the last four"

    @given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3))))
    def test_a_url_is_new_again_from_nearer(self, met: list[tuple[str, int]]) -> None:
        recent = RecentDepths[str](size=4)
        for place, (url, depth) in enumerate(met):
            before = [other for name, other in met[:place] if name == url]
            assert recent.is_new(url, depth) == (not before or depth < min(before))

    @given(st.lists(st.integers(0, 1000), max_size=300))
    def test_no_more_than_twice_the_size_is_held(self, numbers: list[int]) -> None:
        recent = RecentDepths[str](size=8)
        for number in numbers:
            recent.is_new(str(number), 1)
            assert len(recent.young) + len(recent._old) <= 16
