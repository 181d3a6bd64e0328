from __future__ import annotations

import pytest

from crawler.lab.app.clusters_tab import Teaching, rules_taught_by
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import DropArguments, LowerPath, Transform
from crawler.url_rules.rule_report import StoredRule

HOST = "http://site.example"


def teaching(number: int, transform: Transform, pattern: str | None = None) -> Teaching:
    stored = StoredRule(number, "there", "that", "holds", 9, 0.9, 5, 1, "learned", None, "no", {})
    return Teaching(stored, (Context("site.example", pattern), transform))


SESSION = teaching(1, DropArguments(("session",)))
CAPITALS = teaching(2, LowerPath())


@pytest.mark.parametrize(
    ("urls", "taught"),
    [
        (["/a?session=1", "/a?session=2"], [1]),
        (["/a?session=1", "/b?session=2"], []),
        (["/A", "/a"], [2]),
        (["/A?session=1", "/a", "/A"], [1, 2]),
        (["/a", "/a#top"], []),
        (["/a"], []),
        ([], []),
    ],
)
def test_rule_is_taught_where_it_makes_one_address_of_two(
    urls: list[str], taught: list[int]
) -> None:
    found = rules_taught_by([SESSION, CAPITALS], [HOST + url for url in urls])
    assert [rule.id for rule in found] == taught


def test_rule_of_another_host_is_not_taught() -> None:
    urls = ["http://other.example/a?session=1", "http://other.example/a?session=2"]
    assert rules_taught_by([SESSION], urls) == []


def test_what_is_no_url_teaches_nothing() -> None:
    assert rules_taught_by([SESSION], ["", "a file", "\x00", "http://[", HOST]) == []
