"""The queue in agreement with the rules, in slices, through kills."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import ShorterWay
from crawler.storage import meta_names
from crawler.storage.states import DONE, SKIPPED, WAITING
from crawler.url_rules.learned_rule import OTHER_VALUES
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.evidence import CounterExample
from crawler.url_rules.learning.transforms import DropArguments, ReplaceSegments
from crawler.url_rules.skipped import SkippedRequests
from tests.crawler.frontier.ruled import HOST, NAME, SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import ID, SID, by_id, urls

if TYPE_CHECKING:
    from pathlib import Path

PRINT = (Context(NAME), ReplaceSegments(False, 0, ("print", "page"), ("page",)))


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.url_rules.admission.SLICE", 7)


@pytest.fixture(autouse=True)
def no_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.url_rules.admission.EXPLORED_OF", 2**33)
    monkeypatch.setattr("crawler.url_rules.admission.EXPLORED_OF_IDS", 2**33)


def count(crawl: RuledCrawl, state: int) -> int:
    return list(crawl.states().values()).count(state)


def test_of_what_waits_one_an_address_goes_on_waiting(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.admit_all(urls(range(20), range(3)))
    crawl.take(SID)
    crawl.rules.regroup_all()
    assert (count(crawl, WAITING), count(crawl, SKIPPED), len(crawl.queue)) == (20, 40, 20)
    crawl.drain()
    assert len(crawl.fetched) == 20


def test_what_was_fetched_stands_for_what_waits(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.admit_all(urls(range(20), range(1)))
    crawl.drain()
    crawl.admit_all(urls(range(20), range(1, 3)))
    crawl.take(SID)
    crawl.rules.regroup_all()
    crawl.drain()
    assert (count(crawl, DONE), count(crawl, SKIPPED)) == (20, 40)


def test_what_is_met_before_the_pages_are_claimed_does_not_stand_for_them(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.admit_all(urls(range(20), range(1)))
    crawl.drain()
    crawl.take(SID)
    crawl.admit_all(urls(range(20), range(1, 3)))
    assert count(crawl, WAITING) == 40
    crawl.rules.regroup_all()
    crawl.drain()
    assert (count(crawl, DONE), count(crawl, SKIPPED)) == (20, 40)


def test_slice_after_slice_between_pages(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.admit_all(urls(range(20), range(3)))
    crawl.take(SID)
    steps = 0
    while crawl.rules.regrouping.is_pending:
        before = count(crawl, SKIPPED)
        crawl.rules.regrouping.step()
        assert count(crawl, SKIPPED) - before <= 7
        steps += 1
    assert steps > 60 // 7
    assert count(crawl, SKIPPED) == 40


def test_a_kill_in_the_middle_begins_anew(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.admit_all(urls(range(20), range(3)))
    crawl.take(SID)
    crawl.database.commit()
    for kills in range(30):
        for _ in range(kills):
            crawl.rules.regrouping.step()
        if kills % 2:
            crawl.database.commit()
        crawl.kill()
    crawl.rules.regroup_all()
    assert (count(crawl, WAITING), count(crawl, SKIPPED)) == (20, 40)
    assert crawl.database.meta(meta_names.REGROUPING) == "[]"


def test_what_is_skipped_is_named_by_the_rules_of_today(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.take(SID)
    crawl.rules.regroup_all()
    prints = [url.replace("/page", "/print/page") for url in urls(range(9), range(3))]
    crawl.admit_all([*urls(range(9), range(3)), *prints])
    assert count(crawl, SKIPPED) == 36
    crawl.take(PRINT)
    crawl.rules.regroup_all()
    assert count(crawl, SKIPPED) == 45
    sql = "SELECT url, group_digest, rule FROM requests WHERE state = ?"
    for url, group, rule in crawl.database.read(sql, (SKIPPED,)):
        assert group == crawl.group(url), "or it is not found where its address needs it"
        assert rule in {1, 2}


def test_covered_rules_hand_over_what_they_skip(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.take((Context(NAME, "/page"), DropArguments(("sid",))))
    crawl.admit_all(urls(range(9), range(3)))
    (narrow,) = crawl.rules.rules
    crawl.rules.rules.remove(narrow)
    crawl.take(SID)
    crawl.rules.regroup_all()
    (wide,) = crawl.rules.rules
    assert SkippedRequests(crawl.database, crawl.queue).counts() == {wide.id: 18}


def test_without_its_rule_everything_waits_again(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.take(SID, ID)
    crawl.rules.regroup_all()
    crawl.admit_all(urls(range(9), range(3)))
    assert count(crawl, SKIPPED) == 26
    for rule in list(crawl.rules.rules):
        crawl.rules.rules.remove(rule)
    crawl.rules.regrouping.begin([NAME])
    crawl.rules.regroup_all()
    assert (count(crawl, WAITING), count(crawl, SKIPPED), len(crawl.queue)) == (27, 0, 27)


def test_a_copy_of_the_directory_is_regrouped_in_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    crawl = RuledCrawl(tmp_path / "one", by_id)
    crawl.admit_all(urls(range(30), range(4)))
    crawl.take(SID)
    crawl.close()
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    found = []
    for name in ("one", "two"):
        again = RuledCrawl(tmp_path / name, by_id)
        again.rules.regroup_all()
        found.append(again.states())
        again.close()
    assert found[0] == found[1]


def test_urls_of_other_hosts_and_fixed_ones_are_left_alone(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.admit_all(urls(range(3), range(2)))
    for url in urls(range(3), range(2, 4)):
        crawl.admit(url, is_fixed=True)
    other = [f"http://other.test/page?id=1&sid=s{sid}" for sid in range(5)]
    crawl.admit_all(other)
    crawl.take(SID)
    crawl.rules.regroup_all()
    waiting = {url for url, state in crawl.states().items() if state == WAITING}
    assert waiting >= {*other, *urls(range(3), range(2, 4))}
    assert all(url.startswith((SOMEWHERE, "http://other.test")) for url in waiting)
    assert len(waiting) == 3 + 6 + 5


def test_where_no_host_has_room_it_is_not_done_at_once(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.admit_all(urls(range(20), range(2)))
    crawl.rules.take([SID], "a file")
    assert crawl.rules.lease(lambda _: None) is None
    assert crawl.rules.regrouping.is_pending
    assert len(crawl.queue) == 40


def test_where_nothing_waits_it_goes_on_until_something_does(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.take(ID)
    crawl.rules.regroup_all()
    crawl.admit_all(urls(range(20), range(1)))
    crawl.drain()
    assert count(crawl, SKIPPED) == 19
    (wrong,) = crawl.rules.rules
    crawl.rules.trial.revoke(wrong, "a reason", CounterExample(1, 2))
    leased = crawl.rules.lease(lambda _: 0)
    while leased is None and crawl.rules.is_busy:
        leased = crawl.rules.lease(lambda _: 0)
    assert leased is not None
    assert crawl.rules.regrouping.is_pending


def take_proven(crawl: RuledCrawl) -> None:
    """Let a rule hold of which nothing more is to be tried."""
    crawl.take(SID)
    for rule in crawl.rules.rules:
        rule.tried[0, OTHER_VALUES] = 1_000


def nearer(crawl: RuledCrawl, most: int = 10) -> list[tuple[str, int]]:
    found = []
    while crawl.rules.validation.try_more():
        some = crawl.rules.validation.take_nearer()
        assert len(some) <= most
        found += some
    return sorted(found)


def test_a_page_is_as_near_as_the_nearest_of_its_urls(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    first, second, third = urls(range(1), range(3))
    take_proven(crawl)
    crawl.admit(first, depth=5)
    crawl.drain()
    crawl.admit(second, depth=6)
    assert nearer(crawl) == []
    crawl.admit(third, depth=2)
    assert nearer(crawl) == [(first, 2)]
    assert nearer(crawl) == []
    crawl.database.commit()
    crawl.kill()
    assert nearer(crawl) == [(first, 2)], "as long as it has not been lowered"


def test_a_skipped_url_that_is_met_again_from_nearer_lends_its_depth(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    first, second = urls(range(1), range(2))
    take_proven(crawl)
    crawl.admit(first, depth=5)
    crawl.drain()
    crawl.admit(second, depth=5)
    assert nearer(crawl) == []
    crawl.queue.lower(ShorterWay(crawl.canonical.key(second), 2, HOST, second, 0, None))
    crawl.rules.validation.note_nearer()
    assert nearer(crawl) == [(first, 2)]
    crawl.queue.lower(ShorterWay(crawl.canonical.key(first), 1, HOST, first, 0, None))
    crawl.rules.validation.note_nearer()
    assert nearer(crawl) == []


def test_what_a_new_rule_skips_lends_its_depth_to_what_stands_for_it(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    first, second = urls(range(1), range(2))
    crawl.admit(first, depth=5)
    crawl.drain()
    crawl.admit(second, depth=2)
    take_proven(crawl)
    crawl.rules.regroup_all()
    assert crawl.states()[second] == SKIPPED
    assert nearer(crawl) == [(first, 2)]


def test_depths_are_compared_a_slice_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.url_rules.validation.SLICE", 4)
    crawl = RuledCrawl(tmp_path, by_id)
    first, second, third = (urls(range(10), range(sid, sid + 1)) for sid in range(3))
    for url in first:
        crawl.admit(url, depth=5)
    crawl.drain()
    for url, depth in (*((url, 6) for url in second), *((url, 2) for url in third)):
        crawl.admit(url, depth=depth)
    take_proven(crawl)
    crawl.rules.regroup_all()
    for what in ("after a rule was learned", "in the next process"):
        assert nearer(crawl, most=4) == sorted((url, 2) for url in first), what
        assert nearer(crawl) == []
        crawl.database.commit()
        crawl.kill()


def test_trials_are_not_counted_again_where_a_host_at_another_port_is_regrouped(
    tmp_path: Path,
) -> None:
    crawl = RuledCrawl(tmp_path, lambda url: url.partition("?")[0])
    other = f"{SOMEWHERE}:8080"
    crawl.rules.take([(Context(f"{NAME}:8080"), DropArguments(("v",)))], "a file")
    crawl.rules.regroup_all()
    crawl.admit_all(f"{other}/p/{n}{v}" for n in range(300) for v in ("", "?v=a"))
    crawl.drain()
    (rule,) = crawl.rules.rules
    tried = dict(rule.tried)
    assert tried
    for name in "xyz":
        crawl.rules.take([(Context(NAME), DropArguments((name,)))], "a file")
        crawl.rules.regroup_all()
        assert dict(rule.tried) == tried
