"""The rules at work over a real queue and store: what is skipped, tried, revoked, put back."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from crawler.storage.database import open_for_reading
from crawler.storage.states import DONE, SKIPPED
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import ANYTHING, DropArguments, ReplaceSegments
from crawler.url_rules.rule_report import rule_report
from crawler.url_rules.rule_store import forget_rule
from crawler.url_rules.url_groups import MAX_TRIES
from crawler.url_rules.validation import ENOUGH, MAX_ASKED
from tests.crawler.frontier.ruled import NAME, SOMEWHERE, RuledCrawl

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.rule_report import RuleReport

SID: Proposal = (Context(NAME), DropArguments(("sid",)))
ID: Proposal = (Context(NAME), DropArguments(("id",)))


def argument(url: str, name: str) -> str:
    return parse_qs(urlsplit(url).query).get(name, [""])[0]


def by_id(url: str) -> str | None:
    """Pages by their id; the session means nothing."""
    return f"page {argument(url, 'id')}"


def urls(ids: range, sids: range) -> list[str]:
    return [f"{SOMEWHERE}/page?id={number}&sid=s{sid}" for sid in sids for number in ids]


def report(crawl: RuledCrawl) -> RuleReport:
    crawl.rules.save_refuted()
    crawl.database.commit()
    assert crawl.database.path is not None
    with closing(open_for_reading(crawl.database.path.parent)) as connection:
        return rule_report(connection)


def ready(folder: Path, *rules: Proposal, site: object = by_id) -> RuledCrawl:
    """A crawl in which some rules hold from the start."""
    crawl = RuledCrawl(folder, site)  # type: ignore[arg-type]
    crawl.rules.take(rules, "a file")
    crawl.rules.regroup_all()
    return crawl


def tried(folder: Path, *rules: Proposal, site: object = by_id) -> RuledCrawl:
    """A crawl in which some rules hold that were tried everywhere."""
    crawl = ready(folder, site=site)
    crawl.take(*rules)
    crawl.rules.regroup_all()
    return crawl


class TestLearning:
    def test_a_rule_is_learned_and_what_waits_is_regrouped(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, by_id)
        crawl.admit_all(urls(range(100), range(5)))
        crawl.drain()
        assert crawl.said() == {f"page {number}" for number in range(100)}
        assert len(crawl.fetched) < 250
        (rule,) = report(crawl).rules
        assert (rule.state, rule.what) == ("holds", "any sid= is irrelevant")
        states = list(crawl.states().values())
        assert states.count(SKIPPED) == 500 - len(crawl.fetched)
        assert states.count(DONE) == len(crawl.fetched)

    def test_it_is_explored(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, by_id)
        crawl.admit_all(urls(range(30), range(2)))
        crawl.drain()
        before = len(crawl.fetched)
        crawl.admit_all(urls(range(30, 1030), range(2, 4)))
        crawl.drain()
        tried = len(crawl.fetched) - before - 1000
        assert 10 <= tried <= 60, "one page in forty, and what is new"

    def test_without_duplicates_nothing_is_learned(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, lambda url: url)
        crawl.admit_all(urls(range(40), range(5)))
        crawl.drain()
        assert len(crawl.fetched) == 200
        assert not report(crawl).rules


class TestRevocation:
    def test_two_pages_under_one_address_revoke_a_rule_and_what_it_skipped_is_fetched(
        self, tmp_path: Path
    ) -> None:
        crawl = ready(tmp_path, ID, SID)
        crawl.admit_all(urls(range(50), range(2)))
        assert len(crawl.queue) < 50
        crawl.drain()
        assert crawl.said() == {f"page {number}" for number in range(50)}
        assert [(rule.what, rule.state) for rule in report(crawl).rules] == [
            ("any sid= is irrelevant", "holds"),
            ("any id= is irrelevant", "revoked"),
        ]

    def test_it_is_not_learned_again(self, tmp_path: Path) -> None:
        crawl = ready(tmp_path, ID)
        crawl.admit_all(urls(range(9), range(1)))
        crawl.drain()
        crawl.close()
        crawl.open()
        crawl.admit_all(f"{SOMEWHERE}/other?id={number}" for number in range(60))
        crawl.drain()
        assert {rule.state for rule in report(crawl).rules} == {"revoked"}
        assert len(crawl.fetched) == 69

    def test_of_a_host_with_five_wrong_rules_no_process_learns_more(self, tmp_path: Path) -> None:
        def site(url: str) -> str:
            return f"{urlsplit(url).path} {argument(url, 'id')}"

        wrong = [(Context(NAME, f"/{kind}"), DropArguments(("id",))) for kind in "abcde"]
        crawl = ready(tmp_path, *wrong, site=site)
        crawl.admit_all(f"{SOMEWHERE}/{kind}?id={n}" for kind in "abcde" for n in range(9))
        crawl.drain()
        assert [rule.state for rule in report(crawl).rules] == ["revoked"] * 5
        crawl.close()
        crawl.open()
        crawl.admit_all(urls(range(40), range(4)))
        crawl.drain()
        assert len(crawl.fetched) == 5 * 9 + 40 * 4
        assert [rule.state for rule in report(crawl).rules] == ["revoked"] * 5

    def test_two_rules_that_do_the_same_are_both_found_out(self, tmp_path: Path) -> None:
        rules = [
            (Context(NAME), ReplaceSegments(False, 0, ("s", ANYTHING), new))
            for new in ((), ("s", "*"))
        ]
        crawl = ready(tmp_path, *rules, site=lambda url: urlsplit(url).path)
        crawl.admit_all(f"{SOMEWHERE}/s/{number}/x" for number in range(50))
        crawl.drain()
        assert len(crawl.said()) == 50
        assert {rule.state for rule in report(crawl).rules} == {"revoked"}

    def test_what_was_fetched_before_a_rule_was_taken_speaks_against_it(
        self, tmp_path: Path
    ) -> None:
        crawl = RuledCrawl(tmp_path, by_id)
        crawl.admit_all(urls(range(2), range(1)))
        crawl.drain()
        crawl.rules.take([ID], "a file")
        crawl.admit_all(urls(range(2, 40), range(1)))
        crawl.drain()
        assert crawl.said() == {f"page {number}" for number in range(40)}
        (rule,) = report(crawl).rules
        assert rule.state == "revoked"


class TestNoPage:
    """Where the URL that was chosen gives no page, another one of it is fetched."""

    @staticmethod
    def site(dead: int) -> object:
        return lambda url: by_id(url) if int(argument(url, "sid")[1:]) >= dead else None

    @pytest.mark.parametrize("dead", range(1, MAX_TRIES + 1))
    def test_of_those_that_were_skipped(self, tmp_path: Path, dead: int) -> None:
        crawl = tried(tmp_path, SID, site=self.site(dead))
        crawl.admit_all(urls(range(5), range(MAX_TRIES + 3)))
        assert len(crawl.queue) <= 6
        crawl.drain()
        assert crawl.said() == {f"page {number}" for number in range(5)}

    @pytest.mark.parametrize("dead", range(1, MAX_TRIES + 1))
    def test_of_those_that_come_later(self, tmp_path: Path, dead: int) -> None:
        crawl = tried(tmp_path, SID, site=self.site(dead))
        for sid in range(MAX_TRIES + 3):
            crawl.admit_all(urls(range(5), range(sid, sid + 1)))
            crawl.drain()
        assert crawl.said() == {f"page {number}" for number in range(5)}

    def test_also_where_the_rules_change_meanwhile(self, tmp_path: Path) -> None:
        crawl = tried(tmp_path, SID, site=self.site(2))
        crawl.admit_all(urls(range(5), range(6)))
        while any(argument(url, "sid") != "s0" for url in crawl.fetched) is False:
            assert crawl.step()
        crawl.rules.take([(Context(NAME), DropArguments(("nothing",)))], "another file")
        crawl.rules.regroup_all()
        crawl.drain()
        assert crawl.said() == {f"page {number}" for number in range(5)}

    def test_what_is_not_there_is_given_up(self, tmp_path: Path) -> None:
        crawl = tried(tmp_path, SID, site=lambda _: None)
        crawl.admit_all(urls(range(5), range(50)))
        crawl.drain()
        assert len(crawl.fetched) <= 5 * (MAX_TRIES + 2)


class TestEnd:
    """Where nothing waits any more, what may matter on a few pages is tried on more."""

    @staticmethod
    def site(url: str) -> str:
        number, edition = int(argument(url, "id")), argument(url, "edition")
        return f"page {number} in {edition}" if number % 10 == 9 else f"page {number}"

    def test_few_values_are_tried_until_they_are_proven(self, tmp_path: Path) -> None:
        crawl = tried(tmp_path, (Context(NAME), DropArguments(("edition",))), site=self.site)
        for rule in crawl.rules.rules:
            rule.values = [set("abc")]
        crawl.admit_all(f"{SOMEWHERE}/page?id={n}&edition={e}" for e in "abc" for n in range(60))
        crawl.examine()
        assert crawl.said() == {self.site(url) for url in crawl.states()}
        assert {rule.state for rule in report(crawl).rules} == {"revoked"}

    def test_many_values_are_not(self, tmp_path: Path) -> None:
        crawl = tried(tmp_path, SID)
        crawl.admit_all(urls(range(100), range(3)))
        crawl.drain()
        before = len(crawl.fetched)
        crawl.examine()
        assert len(crawl.fetched) == before

    def test_it_ends_where_nothing_more_is_proven(self, tmp_path: Path) -> None:
        crawl = ready(tmp_path, SID, site=lambda url: by_id(url) if "sid=s0" in url else None)
        crawl.admit_all(urls(range(200), range(3)))
        crawl.examine()
        assert 200 < len(crawl.fetched) <= 200 + MAX_ASKED * ENOUGH + 30


class TestTaking:
    def test_rules_are_taken_once(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, by_id)
        assert crawl.rules.take([SID, SID, ID], "a file") == 2
        assert crawl.rules.take([SID, ID], "a file") == 0
        crawl.kill()
        assert crawl.rules.take([SID], "a file") == 1, "a kill forgot it"
        crawl.close()
        crawl.open()
        assert crawl.rules.take([SID], "a file") == 0
        assert [rule.origin for rule in report(crawl).rules] == ["a file"]

    def test_one_that_is_covered_is_not_taken(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, by_id)
        narrow = (Context(NAME, "/page"), DropArguments(("sid",)))
        assert crawl.rules.take([SID, narrow], "a file") == 1

    def test_a_revoked_or_forgotten_one_is_not_taken_again(self, tmp_path: Path) -> None:
        crawl = ready(tmp_path, ID, SID)
        crawl.admit_all(urls(range(9), range(1)))
        crawl.drain()
        crawl.close()
        assert forget_rule(tmp_path, 2) == 0
        crawl.open()
        assert crawl.rules.take([ID, SID], "a file") == 0
        assert {rule.state for rule in report(crawl).rules} == {"revoked", "forgotten"}


class TestForgetting:
    def test_what_it_skipped_is_fetched_and_it_is_not_learned_again(self, tmp_path: Path) -> None:
        crawl = RuledCrawl(tmp_path, by_id)
        crawl.admit_all(urls(range(60), range(5)))
        crawl.drain()
        skipped = list(crawl.states().values()).count(SKIPPED)
        (rule,) = report(crawl).rules
        crawl.close()
        assert forget_rule(tmp_path, rule.id) == skipped > 0
        crawl.open()
        crawl.drain()
        assert len(crawl.fetched) == 300
        assert [rule.state for rule in report(crawl).rules] == ["forgotten"]


class TestReport:
    def test_what_was_looked_at_and_does_not_hold_is_told_with_what_shows_it(
        self, tmp_path: Path
    ) -> None:
        def site(url: str) -> str:
            number = int(argument(url, "id"))
            return f"page {number}" if number % 10 == 0 else "not found"

        crawl = RuledCrawl(tmp_path, site)
        crawl.admit_all(f"{SOMEWHERE}/ticket?id={number}" for number in range(1, 80))
        crawl.drain()
        told = report(crawl)
        assert not told.rules
        assert "any id= is irrelevant" in {known.what for known in told.refuted}
        assert all(known.page.startswith(SOMEWHERE) for known in told.refuted)
        assert told.waiting == 0

    def test_what_is_skipped_waits(self, tmp_path: Path) -> None:
        with closing(tried(tmp_path, SID)) as crawl:
            crawl.admit_all(urls(range(5), range(5)))
            assert report(crawl).waiting == list(crawl.states().values()).count(SKIPPED) > 15
