"""What is learned from whole sites, and what is not."""

from __future__ import annotations

import pytest

from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.evidence import CounterExample, PageContent
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.learning.learner import RuleLearner
from crawler.url_rules.learning.transforms import ReplaceHost, ReplaceSegments
from crawler.url_rules.rule_set import RuleSet
from tests.crawler.url_rules.learning import sites
from tests.crawler.url_rules.learning.simulation import Simulation

pytestmark = pytest.mark.slow

START = sites.HOST + "/"


def said(number: int) -> PageContent:
    return PageContent(number.to_bytes(8), number, 1.0, number)


def crawl(site: sites.Site, *, learns: bool = True) -> Simulation:
    return Simulation(site, START, learns=learns).run()


class TestWhatIsLearned:
    @pytest.mark.parametrize(
        ("site", "most"),
        [
            (sites.session_in_query, 1.5),
            (sites.session_in_path, 1.4),
            (sites.argument_of_a_segment, 1.3),
            (sites.words_behind_an_id, 1.4),
            (sites.token_in_a_name, 1.3),
            (sites.print_views, 1.5),
            (sites.folders, 1.4),
            (sites.any_case, 1.4),
            (sites.facets, 1.4),
            (sites.two_hosts, 1.3),
            (sites.two_shapes, 1.3),
            (sites.first_page, 1.3),
            (sites.beside, 1.4),
        ],
    )
    def test_aliases_are_not_fetched_and_nothing_is_lost(
        self, site: sites.Site, most: float
    ) -> None:
        learning, plain = crawl(site), crawl(site, learns=False)
        assert len(list(learning.rules)) >= 1
        assert learning.said >= plain.said
        assert learning.fetched <= most * len(learning.said)
        assert plain.fetched > most * len(plain.said)

    def test_the_rule_for_a_session_id_is_of_the_whole_host(self) -> None:
        rules = [str(rule) for rule in crawl(sites.session_in_query).rules]
        assert rules == ["site.test: any sid= is irrelevant"]

    def test_the_rule_names_what_it_depends_on(self) -> None:
        (rule,) = crawl(sites.beside).rules
        assert str(rule) == "site.test/x with view=grid: any page= is irrelevant"

    def test_what_leads_nowhere_does_not_stand_for_what_leads_on(self) -> None:
        learning, plain = crawl(sites.bare_print_views), crawl(sites.bare_print_views, learns=False)
        (rule,) = learning.rules
        assert str(rule) == "site.test: /print/... says what is at /..."
        assert learning.said == plain.said

    def test_the_order_of_facets_is_that_of_their_folder(self) -> None:
        (rule,) = crawl(sites.facets).rules
        assert str(rule) == "site.test: the order of segments below /shop/ is irrelevant"

    def test_the_longer_shape_is_the_alias(self) -> None:
        (rule,) = crawl(sites.two_shapes).rules
        assert str(rule) == "site.test: /viewtopic.php?t=<1> equals /topic/<1>.html"

    @pytest.mark.parametrize(
        "origin", ["http://www.site.test", "https://site.test", "http://de.site.test:8080"]
    )
    def test_hosts_of_one_domain_are_found_to_be_one(self, origin: str) -> None:
        (rule,) = crawl(sites.under_a_second_name(origin)).rules
        assert isinstance(rule.transform, ReplaceHost)

    def test_hosts_of_two_domains_are_found_to_be_one_where_that_is_asked_for(self) -> None:
        site = sites.under_a_second_name("http://copy.test")
        asked = LearningPolicy(across_domains=True)
        plain, across = crawl(site), Simulation(site, START, policy=asked).run()
        assert list(plain.rules) == []
        assert list(plain.learner.refuted()) == []
        assert [type(rule.transform) for rule in across.rules] == [ReplaceHost]
        assert across.said == plain.said
        assert across.fetched < plain.fetched


class TestWhatIsNot:
    @pytest.mark.parametrize(
        "site",
        [
            sites.no_duplicates,
            sites.soft_404,
            sites.mostly_irrelevant,
            sites.at_random,
            sites.ever_new,
            sites.one_error_page,
            sites.routes,
        ],
    )
    def test_no_rule_is_believed(self, site: sites.Site) -> None:
        learning, plain = crawl(site), crawl(site, learns=False)
        assert list(learning.rules) == []
        assert learning.fetched == plain.fetched

    def test_what_spoke_against_a_rule_can_be_told(self) -> None:
        refuted = [
            str(known.transform) for known in crawl(sites.mostly_irrelevant).learner.refuted()
        ]
        assert "any v= is irrelevant" in refuted


class TestBounds:
    def test_memory_does_not_grow_with_the_pages(self) -> None:
        learner = RuleLearner(RuleSet(), LearningPolicy())
        for page in range(1, 6001):
            url = f"{sites.HOST}/x?id={page % 3000}&a={page}&b={page % 7}"
            learner.observe(Address.parse(url), said(page % 3000))
        (host,) = learner._hosts.values()
        assert len(host.window) <= 400
        assert len(host.hypotheses) <= 120
        assert all(len(h.evidence._groups) <= 256 for h in host.hypotheses.values())

    def test_nor_with_the_hosts(self) -> None:
        learner = RuleLearner(RuleSet(), LearningPolicy())
        for page in range(1200):
            learner.observe(Address.parse(f"http://h{page}.test/x?id=1"), said(page))
        assert len(learner._hosts) == 200

    def test_a_long_address_is_passed_over(self) -> None:
        learner = RuleLearner(RuleSet(), LearningPolicy())
        for page in range(100):
            url = f"{sites.HOST}/" + "a/" * 30 + f"?sid={page}"
            assert learner.observe(Address.parse(url), said(page % 5)) == []
        assert not learner._hosts


def test_no_hypothesis_is_left_about_names_that_choose_versions() -> None:
    learner = RuleLearner(RuleSet(), LearningPolicy())
    languages = ("da", "de", "en", "fr", "ru")
    for number in range(40):
        for place, language in enumerate(languages):
            # Most pages are not translated; what is, is another text in each language.
            text = 100 * place + number if number % 8 == 0 else number
            learner.observe(Address.parse(f"{sites.HOST}/{language}/p{number}.html"), said(text))
    (host,) = learner._hosts.values()
    assert list(host.hypotheses) == []
    assert host.refuted


def test_a_rule_that_was_revoked_is_not_proposed_again_in_either_direction() -> None:
    learner = RuleLearner(RuleSet(), LearningPolicy())
    context = Context("site.test").apart(Context("site.test", "/de/x"))
    wrong = ReplaceSegments(False, 0, ("da",), ("de",), one_way=True)
    learner.refute(LearnedRule(1, context, wrong, 20), CounterExample(1, 2))
    for number in range(60):
        for language in ("da", "de"):
            url = f"{sites.HOST}/{language}/p{number}.html"
            believed = learner.observe(Address.parse(url), said(number))
            assert all(transform not in (wrong, wrong.reversed()) for _, transform in believed)
    assert [known.transform for known in learner.refuted()] == [wrong]
