"""What two addresses of one page suggest."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given

from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.proposals import Proposal, propose
from crawler.url_rules.learning.transforms import (
    Compound,
    ReplaceSegments,
    Rewrite,
    SortSegments,
    about,
    parts,
)
from crawler.url_rules.rule_set import RuleSet
from crawler.urls.path_patterns import PathPatterns
from tests.crawler.url_rules.learning.strategies import addresses

ONE_WAY = {
    "an argument": ("/x?id=1&sid=ab12", "/x?id=1&sid=cd34"),
    "an argument that is not there": ("/x?id=1&sid=ab12", "/x?id=1"),
    "an argument without value": ("/x?id=1&js", "/x?id=1"),
    "an argument that is repeated": ("/x?id=7&id=1", "/x?id=1"),
    "several arguments": ("/x?id=1&sid=ab12&ref=2", "/x?id=1&sid=cd34&ref=7"),
    "a value": ("/x?id=1&start=0", "/x?id=1"),
    "a value of a script": ("/x.php?id=1&start=0", "/x.php?id=1"),
    "an argument of a segment": ("/a/5;sz=ab12", "/a/5;sz=cd34"),
    "words behind an id": ("/p-5-red-blue", "/p-5-old-wide"),
    "words below an id": ("/p/5/red-blue", "/p/5/old-wide"),
    "an id in a name": ("/doc_5_1b7f.html", "/doc_5_22c0.html"),
    "a session as two folders, and a name": ("/s/ab12cd34/page/1", "/print/page/1"),
    "an argument beside another": ("/x?view=grid&page=2", "/x?view=grid&page=3"),
    "a value behind semicolons": ("/x?p=a;h=1", "/x?p=a;h=2"),
    "a session as folders": ("/s/ab12/page/1", "/s/cd34/page/1"),
    "a session as folders, and none": ("/s/ab12/page/1", "/page/1"),
    "a session as a folder": ("/ab12/page/1", "/cd34/page/1"),
    "a session as a folder, and none": ("/ab12/page/1", "/page/1"),
    "a session behind a folder, and none": ("/s/ab12/page/1", "/s/page/1"),
    "a print view": ("/print/a/1", "/a/1"),
    "a print view below": ("/a/print/1", "/a/1"),
    "a print view behind": ("/a/1/print", "/a/1"),
    "an index": ("/a/index.html", "/a/"),
    "an index at the top": ("/index.html", "/"),
    "an index without the slash": ("/a/index.html", "/a"),
    "a trailing slash": ("/a/", "/a"),
    "a doubled slash": ("/a//b", "/a/b"),
    "case": ("/Docs/P1", "/docs/p1"),
    "a session as folders, and an argument": ("/s/ab12/a?id=1&ref=x", "/s/cd34/a?id=1&ref=y"),
    "a session as a folder, and an argument": ("/ab12/a?id=1&ref=x", "/cd34/a?id=1"),
    "a session as folders, and two arguments": ("/s/ab12/a?at=1&ref=x", "/s/cd34/a?at=7&ref=y"),
    "an order of facets": ("/shop/wool/red/m", "/shop/red/m/wool"),
    "an order of facets at the top": ("/wool/red/m?a=1", "/m/red/wool?a=1"),
    "a shape with the same arguments": ("/print?id=12", "/a?id=12"),
    "a shape with other arguments": ("/viewtopic.php?t=12", "/topic/12.html"),
    "a shape with the number in a name": ("/topic-12.html", "/t?topic=12"),
}


def address(target: str) -> Address:
    return Address.parse(f"http://a.test{target}" if target.startswith("/") else target)


def proposals(one: Address, other: Address, *, across_domains: bool = False) -> list[Proposal]:
    places = one, other
    return list(propose(*places, PathPatterns()(one.segments), across_domains=across_domains))


def make_one(proposal: Proposal, one: Address, other: Address) -> bool:
    rules, (context, transform) = RuleSet(), proposal
    for number, part in enumerate(parts(transform), 1):
        rules.add(LearnedRule(number, context, part))
    return rules.apply(one) == rules.apply(other)


class TestOneDifference:
    @pytest.mark.parametrize(("one", "other"), ONE_WAY.values(), ids=ONE_WAY)
    def test_some_rule_makes_them_one(self, one: str, other: str) -> None:
        for a, b in ((one, other), (other, one)):
            pair = address(a), address(b)
            assert any(make_one(proposal, *pair) for proposal in proposals(*pair)), (a, b)

    @pytest.mark.parametrize(
        "other", ["http://www.a.test/x?a=1", "https://a.test/x?a=1", "https://a.test:81/x?a=1"]
    )
    def test_so_does_one_about_hosts(self, other: str) -> None:
        for pair in ((address("/x?a=1"), address(other)), (address(other), address("/x?a=1"))):
            (proposal,) = proposals(*pair)
            assert make_one(proposal, *pair)

    @pytest.mark.parametrize(
        ("one", "other", "is_one"),
        [
            ("www.a.co.uk", "a.co.uk", True),
            ("cdn.a.co.uk", "de.a.co.uk:81", True),
            ("a.co.uk", "b.co.uk", False),
            ("me.github.io", "you.github.io", False),
            ("www.site.test", "site.test", True),
            ("site.test", "other.test", False),
            ("xn--e1afmkfd.xn--p1ai", "xn--80aaxgrpt.xn--p1ai", False),
            ("localhost:81", "127.0.0.1:82", True),
            ("localhost", "a.co.uk", False),
            ("[::1]", "127.0.0.1", True),
        ],
    )
    def test_hosts_of_two_domains_are_not_equated_unless_asked(
        self, one: str, other: str, is_one: bool
    ) -> None:
        for names in ((one, other), (other, one)):
            pair = tuple(address(f"http://{name}/x?a=1") for name in names)
            assert bool(proposals(pair[0], pair[1])) == is_one
            assert len(proposals(pair[0], pair[1], across_domains=True)) == 1

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("/about", "/contact?x=1"),
            ("/a/b/c/d/e/f", "/g/h/i/j/k/l"),
            ("/x?a=1&b=2&c=3&d=4&e=5", "/x?a=2&b=3&c=4&d=5&e=6"),
            ("http://a.test/x", "http://b.test/y"),
        ],
    )
    def test_two_that_have_little_in_common_suggest_none(self, one: str, other: str) -> None:
        assert proposals(address(one), address(other)) == []

    def test_values_that_may_be_ids_are_not_taken_for_one_another(self) -> None:
        kinds = {str(rule[1]) for rule in proposals(address("/x?id=4711"), address("/x?id=4712"))}
        assert kinds == {"any id= is irrelevant"}

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("/s/en/a?ref=x", "/s/de/a?ref=y"),
            ("/s/5/a?ref=x", "/s/7/a?ref=y"),
            ("/s/ab12/a?ref=x", "/s/cd34/a?ref=x"),
            ("/s/ab12/a?ref=x", "/a?ref=y"),
            ("/s/ab12/ef56?ref=x", "/s/cd34/gh78?ref=y"),
            ("/s/ab12/a?a=1&b=2&c=3&d=4&e=5", "/s/cd34/a?a=2&b=3&c=4&d=5&e=6"),
        ],
    )
    def test_only_one_segment_of_ids_and_few_arguments_are_taken_together(
        self, one: str, other: str
    ) -> None:
        found = proposals(address(one), address(other))
        assert not any(isinstance(transform, Compound) for _, transform in found)

    @pytest.mark.parametrize(
        ("one", "other", "folders"),
        [
            ("/shop/wool/red", "/shop/red/wool", [("shop",), ()]),
            ("/en/shop/wool/red", "/en/shop/red/wool", [("en", "shop"), ("en",), ()]),
            ("/wool/red", "/red/wool", [()]),
            ("/wool/red", "/red/silk", []),
            ("/wool/red", "/red/wool/red", []),
            ("/wool/red?a=1", "/red/wool?a=2", []),
        ],
    )
    def test_two_orders_of_segments_suggest_that_it_is_irrelevant(
        self, one: str, other: str, folders: list[tuple[str, ...]]
    ) -> None:
        found = [rule for _, rule in proposals(address(one), address(other))]
        assert [rule.before for rule in found if isinstance(rule, SortSegments)] == folders


class TestProposalProperties:
    @given(addresses, addresses)
    def test_each_makes_the_two_one(self, one: Address, other: Address) -> None:
        """But for those about one of several differences, and about any segment whatever."""
        differing = {n for n in one.names | other.names if one.values(n) != other.values(n)}
        for context, transform in proposals(one, other):
            is_whole = differing <= set(about(transform)) or isinstance(transform, Rewrite)
            if is_whole and not (isinstance(transform, ReplaceSegments) and transform.is_open):
                assert transform(one) == transform(other), transform
            assert context.host == one.host

    @given(addresses, addresses)
    def test_there_are_not_many(self, one: Address, other: Address) -> None:
        found = proposals(one, other)
        assert len(found) <= 80
        assert all(proposal for proposal in found if hash(proposal))

    @given(addresses)
    def test_one_address_suggests_nothing(self, one: Address) -> None:
        assert proposals(one, one) == []

    def test_their_order_does_not_depend_on_the_process(self) -> None:
        """Only the first few are tried, so another order would be another crawl."""
        program = (
            "from tests.crawler.url_rules.learning.test_proposals import address, proposals\n"
            "pair = address('/x?id=1&sid=2&ref=3&page=4'), address('/x?id=1&sid=3&ref=4&page=5')\n"
            "print(*map(str, (transform for _, transform in proposals(*pair))), sep='\\n')\n"
        )
        told = {
            subprocess.run(
                [sys.executable, "-c", program],
                env={**os.environ, "PYTHONHASHSEED": str(seed)},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for seed in range(3)
        }
        assert len(told) == 1
