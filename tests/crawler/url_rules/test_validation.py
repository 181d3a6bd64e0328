"""The end of a crawl: what is tried of rules that may be wrong on a few pages, and what follows."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler.frontier.order import host_number
from crawler.storage.states import SKIPPED
from crawler.url_rules.learned_rule import PROVEN
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    DropArguments,
    LowerPath,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    SortSegments,
)
from crawler.url_rules.validation import (
    ENOUGH,
    MIN_OF_A_VALUE,
    pages_wanted,
    trials_of_all,
)
from tests.crawler.frontier.ruled import NAME, SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import SID, argument, by_id, report, tried

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform

BARE = f"bare.{NAME}"
FORMS: dict[str, tuple[Transform, str]] = {
    "a name in the path": (
        ReplaceSegments(False, 0, ("print", "page"), ("page",)),
        "http://site.test/print/page/{}",
    ),
    "the end of a path": (
        ReplaceSegments(True, 0, ("index.html",), ("",)),
        "http://site.test/page/{}/index.html",
    ),
    "a host": (ReplaceHost("http", BARE, "http", NAME), "http://bare.site.test/page/{}"),
    "a scheme": (ReplaceHost("https", NAME, "http", NAME), "https://site.test/page/{}"),
    "capital letters": (LowerPath(), "http://site.test/Page/{}"),
    "an order": (SortSegments(()), "http://site.test/{}/page"),
    "a value": (ReplaceValues("view", ("all",), ()), "http://site.test/page/{}?view=all"),
    "few names anywhere": (
        ReplaceSegments(False, 0, ("to", ANYTHING), ()),
        "http://site.test/to/print/page/{}",
    ),
}
"""Rules of every kind, and a URL that each of them takes for ``/page/N``."""


def number_of(url: str) -> int:
    return int(next(part for part in urlsplit(url).path.split("/") if part.isdecimal()))


def formed(folder: Path, form: str, pages: int, different: frozenset[int]) -> RuledCrawl:
    """A crawl of pages of which some differ in their other form, which a rule takes for the same.

    Returned where all is fetched that the rule does not skip.
    """
    rule, other = FORMS[form]
    plain = "http://site.test/page/{}" + "/" * (form == "the end of a path")

    def site(url: str) -> str:
        number = number_of(url)
        is_other = url != plain.format(number)
        return f"page {number}" + (" otherwise" if is_other and number in different else "")

    context = Context(BARE if isinstance(rule, ReplaceHost) and rule.host == BARE else NAME)
    crawl = RuledCrawl(folder, site)
    crawl.take((context, rule))
    for taken in crawl.rules.rules:
        taken.values = [{"to/print", ""}]
    crawl.admit_all(plain.format(number) for number in range(pages))
    crawl.drain()
    for number in range(pages):
        url = other.format(number)
        crawl.admit(url, host=host_number(str(urlsplit(url).hostname)))
    return crawl


def without(name: str, value: str) -> ReplaceValues:
    """A value that says the same as none."""
    return ReplaceValues(name, (value,), ())


def edition(url: str) -> str:
    """Pages of which one in twenty has editions that differ."""
    number, edition = int(argument(url, "id")), argument(url, "edition")
    return f"page {number}" + (f" in {edition}" if number % 20 == 9 and edition > "1" else "")


def test_a_request_is_a_trial_of_every_rule_that_skips_it(tmp_path: Path) -> None:
    rules = [(Context(NAME), without(name, "1")) for name in ("a", "b", "c")]
    crawl = tried(tmp_path, *rules, site=by_id)
    crawl.admit_all(f"{SOMEWHERE}/page?id={n}" for n in range(300))
    crawl.drain()
    crawl.admit_all(f"{SOMEWHERE}/page?a=1&b=1&c=1&id={n}" for n in range(300))
    crawl.examine()
    assert all(rule.tried[0, ""] >= ENOUGH for rule in crawl.rules.rules)
    assert len(crawl.fetched) - 300 < 1.5 * ENOUGH


def test_two_rules_that_are_proven_alone_are_tried_together(tmp_path: Path) -> None:
    def site(url: str) -> str:
        is_other = "a=1&b=1" in url and int(argument(url, "id")) % 25 == 9
        return f"page {argument(url, 'id')}" + (" of both" if is_other else "")

    rules = [(Context(NAME), without(name, "1")) for name in ("a", "b")]
    crawl = tried(tmp_path, *rules, site=site)
    for arguments in ("", "a=1&", "b=1&"):
        crawl.admit_all(f"{SOMEWHERE}/page?{arguments}id={n}" for n in range(300))
        crawl.examine()
    assert [rule.examined for rule in crawl.rules.rules] == [PROVEN, PROVEN]
    before = len(crawl.fetched)
    crawl.admit_all(f"{SOMEWHERE}/page?a=1&b=1&id={n}" for n in range(300))
    crawl.examine()
    assert len(crawl.said()) == 300 + 12
    assert len(crawl.fetched) > before + 12


def test_a_process_that_ends_before_two_rules_were_tried_together_leaves_that(
    tmp_path: Path,
) -> None:
    rules = [(Context(NAME), without(name, "1")) for name in ("a", "b")]
    crawl = tried(tmp_path, *rules, site=by_id)
    for arguments in ("", "a=1&", "b=1&"):
        crawl.admit_all(f"{SOMEWHERE}/page?{arguments}id={n}" for n in range(300))
        crawl.examine()
    crawl.admit_all(f"{SOMEWHERE}/page?a=1&b=1&id={n}" for n in range(300))
    crawl.drain()
    crawl.close()
    crawl.open()
    assert crawl.rules.validation.is_left
    crawl.examine()
    assert not crawl.rules.validation.is_left
    newer = max(crawl.rules.rules, key=lambda rule: rule.id)
    assert newer.tried[-min(rule.id for rule in crawl.rules.rules), ""] >= ENOUGH


def test_each_value_is_tried(tmp_path: Path) -> None:
    crawl = tried(tmp_path, (Context(NAME), DropArguments(("edition",))), site=by_id)
    for rule in crawl.rules.rules:
        rule.values = [set("123")]
    crawl.admit_all(f"{SOMEWHERE}/page?id={n}" for n in range(300))
    crawl.drain()
    crawl.admit_all(f"{SOMEWHERE}/page?edition={e}&id={n}" for n in range(300) for e in "123")
    crawl.drain()
    before = len(crawl.fetched)
    crawl.examine()
    found = [argument(url, "edition") for url in crawl.fetched[before:]]
    assert min(map(found.count, "123")) >= MIN_OF_A_VALUE / 2
    (rule,) = crawl.rules.rules
    assert min(rule.tried[0, value] for value in "123") >= MIN_OF_A_VALUE


def test_what_a_rule_was_learned_from_are_trials(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, by_id)
    crawl.admit_all(f"{SOMEWHERE}/page?{a}id={n}" for a in ("", "a=1&") for n in range(200))
    crawl.drain()
    (rule,) = crawl.rules.rules
    twice = len(crawl.fetched) - 200
    assert rule.tried[0, ""] == twice >= 14
    crawl.examine()
    assert len(crawl.fetched) <= 200 + trials_of_all(200) + 1


def test_what_was_tried_before_a_page_contradicted_a_rule_is_no_trial(tmp_path: Path) -> None:
    crawl = tried(tmp_path, (Context(NAME), without("a", "1")), site=by_id)
    (rule,) = crawl.rules.rules
    crawl.admit_all(f"{SOMEWHERE}/page?{a}id={n}" for a in ("", "a=1&") for n in range(200))
    crawl.examine()
    assert rule.tried[0, ""] >= ENOUGH
    rule.start_over(len(crawl.fetched))
    crawl.rules.regrouping.begin([NAME])
    crawl.rules.regroup_all()
    assert not rule.tried[0, ""]


def test_where_one_value_is_wrong_the_others_of_the_argument_are_not_believed_either(
    tmp_path: Path,
) -> None:
    rules = [(Context(NAME, "/page"), without("edition", value)) for value in "123"]
    crawl = tried(tmp_path, *rules, site=edition)
    crawl.admit_all(f"{SOMEWHERE}/page?id={n}" for n in range(200))
    crawl.drain()
    urls = [f"{SOMEWHERE}/page?edition={e}&id={n}" for e in "123" for n in range(200)]
    crawl.admit_all(urls)
    crawl.examine()
    assert crawl.said() == set(map(edition, [*urls, *crawl.states()]))
    assert {rule.state for rule in report(crawl).rules} == {"revoked"}


def test_a_kind_of_page_that_is_taken_out_of_a_rule_is_fetched_and_others_are_not(
    tmp_path: Path,
) -> None:
    def site(url: str) -> str:
        path, number = urlsplit(url).path, argument(url, "id")
        return f"{path} {edition(url)}" if path == "/entry" else f"{path} {number}"

    crawl = tried(tmp_path, (Context(NAME), DropArguments(("edition",))), site=site)
    for rule in crawl.rules.rules:
        rule.values, rule.clusters = [set("abc")], {"/page?id", "/board?id"}
    urls = [
        f"{SOMEWHERE}/{kind}?edition={e}&id={n}"
        for kind in ("entry", "page", "board")
        for e in "123"
        for n in range(100)
    ]
    crawl.admit_all(urls)
    crawl.examine()
    assert crawl.said() == set(map(site, urls))
    assert sum("/entry" in url for url in crawl.fetched) == 300
    assert len(crawl.fetched) < 300 + 200 + 200
    (told,) = report(crawl).rules
    assert (told.state, "not at" in told.where) == ("holds", True)


class TestForms:
    """Names in paths, hosts and forms of spelling are validated as values of arguments are."""

    @pytest.mark.parametrize("form", FORMS)
    def test_as_many_pages_are_tried_as_prove_it(self, form: str, tmp_path: Path) -> None:
        crawl = formed(tmp_path, form, 300, frozenset())
        crawl.examine()
        (rule,) = crawl.rules.rules
        enough = trials_of_all(300)
        assert enough <= sum(rule.tried.values()) <= enough + 2
        assert len(crawl.fetched) <= 300 + enough + 2
        assert report(crawl).rules[0].examined == "proven"

    @pytest.mark.parametrize("form", FORMS)
    def test_of_fewer_pages_each_is_tried_so_that_none_is_lost(
        self, form: str, tmp_path: Path
    ) -> None:
        seed = random.Random(form)
        crawl = formed(tmp_path, form, ENOUGH, frozenset(seed.sample(range(20, ENOUGH), 1)))
        crawl.examine()
        assert crawl.said() == {crawl.site(url) for url in crawl.states()}

    @pytest.mark.parametrize("form", FORMS)
    def test_where_one_differs_all_are_put_back(self, form: str, tmp_path: Path) -> None:
        crawl = formed(tmp_path, form, 300, frozenset(range(0, 300, 2)))
        crawl.examine()
        assert SKIPPED not in crawl.states().values()
        assert crawl.said() == {crawl.site(url) for url in crawl.states()}


def test_learned_rules_of_two_values_are_tried_on_as_many_pages_as_promised(
    tmp_path: Path,
) -> None:
    def site(url: str) -> str:
        return f"page {argument(url, 'id')}"

    crawl = RuledCrawl(tmp_path, site)
    forms = ("", "&copy=1", "&copy=2")
    crawl.admit_all(f"{SOMEWHERE}/page?id={n}{form}" for n in range(400) for form in forms)
    crawl.examine()
    rules = list(crawl.rules.rules)
    assert min(rule.tried[0, ""] for rule in rules) >= pages_wanted(len(rules))
    assert len(crawl.fetched) <= 400 + 2 * ENOUGH + 60


def test_a_trial_that_is_fetched_again_proves_nothing_more(tmp_path: Path) -> None:
    crawl = tried(tmp_path, (Context(NAME), without("a", "1")), SID, site=by_id)
    forms = ("", "a=1&", "a=1&sid=x1&", "a=1&sid=x2&", "a=1&sid=x3&")
    crawl.admit_all(f"{SOMEWHERE}/page?{form}id={n}" for form in forms for n in range(40))
    crawl.examine()
    (rule,) = (rule for rule in crawl.rules.rules if not rule.is_of_ids)
    assert rule.tried[0, ""] == 40
    told = {one.what: one.examined for one in report(crawl).rules}
    assert told == {"a=1 equals no a=": "all", "any sid= is irrelevant": "ids"}


@pytest.mark.parametrize("plain", [("",), ()])
def test_ids_that_stand_on_one_page_each_are_tried(plain: tuple[str, ...], tmp_path: Path) -> None:
    """Revisions of a wiki: two in a hundred that a rule skips say something else."""
    differing = {(number, 1) for number in range(7, 300, 25)}

    def site(url: str) -> str:
        number, revision = int(argument(url, "id")), argument(url, "rev")
        is_other = (number, int(revision[:1] or 0)) in differing
        return f"page {number}" + f", revision {revision}" * is_other

    crawl = tried(tmp_path, (Context(NAME), DropArguments(("rev",))), site=site)
    for number in range(300):
        crawl.admit_all(
            f"{SOMEWHERE}/page?id={number}{rev}"
            for rev in (*plain, f"&rev=1a{number:03}", f"&rev=2b{number:03}")
        )
    crawl.examine()
    assert crawl.said() == {crawl.site(url) for url in crawl.states()}


def test_ids_that_pages_share_prove_nothing(tmp_path: Path) -> None:
    crawl = tried(tmp_path, SID, site=by_id)
    crawl.admit_all(
        f"{SOMEWHERE}/page?id={number}&sid={(number + step) // 10:04x}a0b"
        for number in range(300)
        for step in (0, 10, 20)
    )
    crawl.examine()
    (rule,) = report(crawl).rules
    assert (rule.state, rule.examined) == ("holds", "ids")
    assert len(crawl.fetched) < 360


@pytest.mark.parametrize("moment", [1, 7, 30, 61])
def test_a_process_that_is_killed_in_the_middle_loses_nothing(moment: int, tmp_path: Path) -> None:
    crawl = formed(tmp_path, "a name in the path", 100, frozenset([97]))
    crawl.drain()
    crawl.database.commit()
    assert crawl.rules.validation.try_more()
    for _ in range(moment):
        crawl.step()
    if moment % 2:
        crawl.database.commit()
    crawl.kill()
    crawl.examine()
    assert crawl.said() == {crawl.site(url) for url in crawl.states()}


def test_what_came_before_the_kill_is_not_tried_again(tmp_path: Path) -> None:
    crawl = formed(tmp_path, "a name in the path", 300, frozenset())
    crawl.drain()
    crawl.rules.validation.try_more()
    for _ in range(50):
        crawl.step()
    crawl.database.commit()
    crawl.kill()
    crawl.examine()
    (rule,) = crawl.rules.rules
    enough = trials_of_all(300)
    assert enough <= rule.tried[0, ""] <= enough + 1
    assert len(crawl.fetched) <= 300 + enough + 1


def test_where_two_rules_may_be_wrong_the_page_is_asked_for_in_each_form(tmp_path: Path) -> None:
    """Only together they are: whichever is let go of, the other is tried on that very page."""

    def site(url: str) -> str:
        is_both = "/print/" in url and argument(url, "view") == "all"
        return f"page {number_of(url)}" + (" whole" if is_both and number_of(url) > 180 else "")

    rules: list[Proposal] = [
        (Context(NAME), ReplaceSegments(False, 0, ("print", "page"), ("page",))),
        (Context(NAME), without("view", "all")),
    ]
    crawl = tried(tmp_path, *rules, site=site)
    urls = [
        f"{SOMEWHERE}{path}/{n}{query}"
        for query in ("", "?view=all")
        for path in ("/page", "/print/page")
        for n in range(200)
    ]
    crawl.admit_all(urls)
    crawl.examine()
    assert crawl.said() == set(map(site, urls))


class TestExceptions:
    """A kind of page that one rule is wrong of says nothing of rules about other kinds."""

    def test_a_rule_about_other_pages_goes_on_to_hold(self, tmp_path: Path) -> None:
        def site(url: str) -> str:
            number = int(argument(url, "id"))
            is_other = urlsplit(url).path == "/entry" and argument(url, "edition") == "2"
            return f"{urlsplit(url).path} {number}" + (" second" if is_other else "")

        rules = [
            (Context(NAME), without("edition", "2")),
            (Context(NAME, "/board"), without("edition", "3")),
            (
                Context(NAME).apart(Context(NAME, "/entry", frozenset(["id"]))),
                without("edition", "4"),
            ),
        ]
        nothing = LearningPolicy(confidence=1.0)
        crawl = RuledCrawl(tmp_path, site, policy=nothing)
        crawl.take(*rules)
        for rule in crawl.rules.rules:
            rule.clusters = {"/page?id", "/board?id", "/list?id"}
        urls = [
            f"{SOMEWHERE}/{kind}?{edition}id={n}"
            for kind in ("page", "board", "list", "entry")
            for edition in ("", "edition=2&", "edition=3&", "edition=4&")
            for n in range(30)
        ]
        crawl.admit_all(urls)
        crawl.examine()
        assert crawl.said() == set(map(site, urls))
        told = {rule.what: (rule.state, rule.where) for rule in report(crawl).rules}
        assert {state for state, _ in told.values()} == {"holds"}
        assert told["edition=3 equals no edition="] == ("holds", f"{NAME}/board")


@pytest.mark.parametrize(
    ("values", "pages"), [(1, 118), (2, 118), (3, 59), (4, 59), (10, 59), (20, 29)]
)
def test_pages_that_are_wanted_of_each_value(values: int, pages: int) -> None:
    assert pages_wanted(values) == pages


def dated(url: str) -> str:
    return url if "2024-" in url else url.partition("?")[0]


def test_what_a_proven_rule_skips_later_is_validated_by_the_next_process(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, dated)
    crawl.rules.take([(Context(NAME), DropArguments(("v",)))], "a file")
    crawl.rules.regroup_all()
    crawl.admit_all(f"{SOMEWHERE}/p/{n}{v}" for n in range(150) for v in ("", "?v=a"))
    crawl.examine()
    late = [f"{SOMEWHERE}/p/{n}?v=2024-0{month}" for n in range(300, 308) for month in "123"]
    crawl.admit_all(late)
    crawl.drain()
    crawl.rules.save_refuted()
    crawl.database.commit()
    crawl.kill()
    assert crawl.rules.validation.is_left
    crawl.examine()
    assert set(late) <= crawl.said()


def test_trials_of_a_visit_do_not_count_in_the_next_one(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, lambda url: url.partition("?")[0])
    crawl.rules.take([(Context(NAME), DropArguments(("v",)))], "a file")
    crawl.rules.regroup_all()
    crawl.admit_all(f"{SOMEWHERE}/p/{n}{v}" for n in range(300) for v in ("", "?v=a"))
    crawl.drain()
    (rule,) = crawl.rules.rules
    assert rule.tried
    crawl.rules.begin_visit(2)
    assert not rule.tried
