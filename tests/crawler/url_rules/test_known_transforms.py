"""A transform that holds elsewhere needs fewer texts, and is spared nothing else."""

from __future__ import annotations

import tomllib
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.commands.rules import rule_lines
from crawler.job import Job
from crawler.reading.protocol import ReadingOptions
from crawler.run import JobOptions
from crawler.spiders.site import SiteSpider
from crawler.storage.database import open_for_reading
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.evidence import CounterExample
from crawler.url_rules.learning.hypothesis import Hypothesis, LearningPolicy
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    Compound,
    DropArguments,
    ReplaceSegments,
    ReplaceValues,
    Transform,
)
from crawler.url_rules.rule_files import from_json, rules_text, to_json
from crawler.url_rules.rule_report import rule_report
from crawler.url_rules.rule_set import CommonRule, KnownTransforms, RuleSet, common_rules
from tests.crawler.frontier.ruled import RuledCrawl
from tests.crawler.url_rules.learning.strategies import transforms
from tests.crawler.url_rules.learning.test_hypothesis import hypothesis, pairs, seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.url_rules.learning.proposals import Proposal

FROM, REF = DropArguments(("from",)), DropArguments(("ref",))
HOSTS = ("one.test", "two.test", "three.test", "four.test")


def held_on(*hosts: str, transform: Transform = FROM) -> RuleSet:
    rules = RuleSet()
    for number, host in enumerate(hosts, 1):
        rules.add(LearnedRule(number, Context(host), transform))
    return rules


class TestWhatIsKnown:
    def test_a_transform_of_rules_on_two_hosts_is_until_one_of_them_ends(self) -> None:
        rules = held_on("one.test", "two.test")
        assert rules.known.source(FROM) == "2 hosts of this crawl"
        rules.remove(next(iter(rules)))
        assert rules.known.source(FROM) is None

    def test_that_of_two_rules_on_one_host_is_not(self) -> None:
        assert held_on("one.test", "one.test").known.source(FROM) is None

    def test_that_of_a_rule_in_a_file_is_wherever_the_rule_was(self) -> None:
        known = KnownTransforms()
        known.name(FROM, "rules.json")
        known.name(FROM, "another.json")
        assert known.source(FROM) == "rules.json"
        assert known.source(REF) is None

    def test_several_arguments_are_where_each_is(self) -> None:
        known = KnownTransforms([CommonRule(FROM, "a wiki", "https://wiki.test/")])
        both = DropArguments(("from", "ref"))
        assert known.source(both) is None
        known.name(REF, "rules.json")
        assert known.source(both) == "a wiki (https://wiki.test/); rules.json"

    def test_a_session_and_an_argument_are_where_both_are(self) -> None:
        session = ReplaceSegments(False, 0, ("s", ANYTHING), ("s", "*"))
        known = KnownTransforms()
        known.name(FROM, "rules.json")
        assert known.source(Compound(session, FROM)) is None
        known.name(session, "others.json")
        assert known.source(Compound(session, FROM)) == "others.json; rules.json"

    def test_each_argument_is_where_both_are(self) -> None:
        known = held_on("one.test", "two.test", transform=DropArguments(("from", "ref"))).known
        assert known.source(FROM) == known.source(REF) == "2 hosts of this crawl"

    def test_a_value_is_where_any_is_and_not_the_other_way_round(self) -> None:
        value, known = ReplaceValues("from", ("a",), ()), KnownTransforms()
        known.name(value, "rules.json")
        assert known.source(FROM) is None
        known = KnownTransforms()
        known.name(FROM, "rules.json")
        assert known.source(value) == "rules.json"

    def test_a_pair_is_in_both_directions_whichever_leads_to_less(self) -> None:
        known = KnownTransforms()
        known.name(ReplaceSegments(False, 0, ("print",), ("full",), one_way=True), "rules.json")
        assert known.source(ReplaceSegments(False, 0, ("full",), ("print",))) == "rules.json"

    @given(st.lists(st.tuples(transforms, st.sampled_from(HOSTS)), max_size=8))
    def test_what_was_added_and_removed_leaves_nothing(
        self, added: list[tuple[Transform, str]]
    ) -> None:
        known = KnownTransforms()
        for transform, host in added:
            known.add(transform, host)
        for transform, host in reversed(added):
            known.remove(transform, host)
        assert all(known.source(transform) is None for transform, _ in added)
        assert not known._hosts


class TestCommonRules:
    @pytest.mark.parametrize("rule", common_rules(), ids=lambda rule: str(rule.transform))
    def test_each_is_about_named_arguments_and_says_where_it_comes_from(
        self, rule: CommonRule
    ) -> None:
        assert isinstance(rule.transform, DropArguments | ReplaceValues)
        assert from_json(to_json(rule.transform)) == rule.transform
        assert rule.software
        assert rule.source.startswith("https://")
        assert KnownTransforms(common_rules()).source(rule.transform) is not None

    def test_none_is_named_twice(self) -> None:
        named = [rule.transform for rule in common_rules()]
        assert len(set(named)) == len(named)

    def test_the_file_is_part_of_the_package(self) -> None:
        project = Path(__file__).parents[3] / "pyproject.toml"
        packaged = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["setuptools"]
        assert packaged["package-data"]["crawler.url_rules"] == ["common_rules.json"]
        assert files("crawler.url_rules").joinpath("common_rules.json").is_file()


class TestHeadStart:
    def test_five_texts_are_enough(self) -> None:
        some, policy = hypothesis(), LearningPolicy()
        pairs(some, 4)
        assert not some.is_believed(policy, has_head_start=True)
        pairs(some, 1, first=4)
        assert some.is_believed(policy, has_head_start=True)
        assert not some.is_believed(policy)

    def test_of_a_whole_host_they_are_of_two_kinds_of_pages(self) -> None:
        some = hypothesis(context=Context("a.test"))
        some.evidence.spreads = True
        pairs(some, 6)
        assert not some.is_believed(LearningPolicy(), has_head_start=True)
        pairs(some, 1, path="/y", first=6)
        assert some.is_believed(LearningPolicy(), has_head_start=True)
        assert not some.is_believed(LearningPolicy())

    @pytest.mark.parametrize(("confidence", "texts"), [(0.5, 5), (0.8, 5), (0.9, 11)])
    def test_more_confidence_wants_more_texts(self, confidence: float, texts: int) -> None:
        some, policy = hypothesis(), LearningPolicy(confidence)
        pairs(some, texts - 1)
        assert not some.is_believed(policy, has_head_start=True)
        pairs(some, 1, first=texts - 1)
        assert some.is_believed(policy, has_head_start=True)

    @given(st.integers(0, 40), st.booleans(), st.floats(0.5, 0.99))
    def test_what_is_refuted_stays_so_and_what_is_believed_too(
        self, texts: int, is_wrong: bool, confidence: float
    ) -> None:
        some, policy = hypothesis(), LearningPolicy(confidence)
        pairs(some, texts)
        some.observe(seen("/x?id=1&sid=z", 77 if is_wrong else 1, page=9))
        some.observe(seen("/x?id=1&sid=zz", 1, page=10))
        refuted = some.refuted
        believed = [some.is_believed(policy, has_head_start=known) for known in (False, True)]
        assert some.refuted is refuted
        assert believed == sorted(believed)
        assert not (refuted and any(believed))

    def test_it_does_not_outlive_a_refutation(self) -> None:
        some: Hypothesis = hypothesis()
        pairs(some, 30)
        some.refuted = CounterExample(1, 2)
        assert not some.is_believed(LearningPolicy(), has_head_start=True)


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[RuledCrawl]:
    crawl = RuledCrawl(tmp_path, lambda url: url.partition("?")[0])
    yield crawl
    crawl.close()


def fetch_pairs(crawl: RuledCrawl, host: str, texts: range, name: str = "from") -> None:
    """Fetch pages of one kind, each under two URLs that differ by an argument."""
    for number in texts:
        crawl.admit_all(f"http://{host}/p/{number}?{name}={number}{mark}" for mark in "ab")
        crawl.drain()


def rules_of(crawl: RuledCrawl, host: str) -> list[LearnedRule]:
    return [rule for rule in crawl.rules.rules if rule.context.host == host]


class TestCrawl:
    def test_the_third_host_needs_five_texts(self, crawl: RuledCrawl) -> None:
        for host in HOSTS[:2]:
            fetch_pairs(crawl, host, range(13))
            assert not rules_of(crawl, host)
            fetch_pairs(crawl, host, range(13, 14))
            (rule,) = rules_of(crawl, host)
            assert rule.head_start == ""
        for host in HOSTS[2:]:
            fetch_pairs(crawl, host, range(4))
            assert not rules_of(crawl, host)
            fetch_pairs(crawl, host, range(4, 5))
            (rule,) = rules_of(crawl, host)
            assert (rule.positives, rule.origin) == (5, "learned")
        assert [rules_of(crawl, host)[0].head_start for host in HOSTS[2:]] == [
            "2 hosts of this crawl",
            "3 hosts of this crawl",
        ]

    def test_a_host_needs_five_where_a_file_has_a_rule_of_another_one(
        self, crawl: RuledCrawl
    ) -> None:
        proposal: Proposal = Context("elsewhere.test"), FROM
        crawl.rules.suggest([proposal], "rules.json")
        assert not list(crawl.rules.rules)
        fetch_pairs(crawl, "one.test", range(4))
        assert not list(crawl.rules.rules)
        fetch_pairs(crawl, "one.test", range(4, 5))
        (rule,) = crawl.rules.rules
        assert rule.head_start == "rules.json"

    def test_the_file_is_that_of_the_argument(self, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        file.write_text(rules_text([(Context("elsewhere.test"), FROM)]), encoding="utf-8")
        options = JobOptions(reading=ReadingOptions(workers=1), learning=LearningPolicy())
        for _ in range(2):
            with closing(Job(tmp_path / "job", options)) as job:
                SiteSpider.take_rules({"rules": str(file)}, job)
                assert isinstance(job.url_rules, UrlRules)
                assert job.url_rules.rules.known.source(FROM) == "rules.json"

    def test_common_software_is_known_and_what_comes_of_it_is_told(self, crawl: RuledCrawl) -> None:
        fetch_pairs(crawl, "one.test", range(5), "replytocom")
        (rule,) = crawl.rules.rules
        source = "WordPress (https://core.trac.wordpress.org/ticket/16893)"
        assert rule.head_start == source
        crawl.rules.save_refuted()
        crawl.database.commit()
        crawl.kill()
        assert [rule.head_start for rule in crawl.rules.rules] == [source]
        with closing(open_for_reading(crawl.folder)) as connection:
            told = list(rule_lines(rule_report(connection)))
        assert f"   fewer texts were enough, since it is known from {source}" in told

    def test_what_held_on_two_hosts_is_not_believed_where_pages_differ(
        self, tmp_path: Path
    ) -> None:
        def site(url: str) -> str:
            # On the third host the argument matters on every second page.
            page = url.partition("?")[0]
            return url if "three" in url and page[-1] in "13579" else page

        with closing(RuledCrawl(tmp_path, site)) as crawl:
            for host in HOSTS[:3]:
                fetch_pairs(crawl, host, range(30))
            assert [bool(rules_of(crawl, host)) for host in HOSTS[:3]] == [True, True, False]
            crawl.examine()
            assert {url for url in crawl.fetched if "three" in url} == {
                f"http://three.test/p/{n}?from={n}{mark}" for n in range(30) for mark in "ab"
            }

    def test_a_process_that_goes_on_knows_what_holds(self, crawl: RuledCrawl) -> None:
        for host in HOSTS[:2]:
            fetch_pairs(crawl, host, range(14))
        crawl.database.commit()
        crawl.kill()
        fetch_pairs(crawl, "three.test", range(5))
        assert rules_of(crawl, "three.test")
