from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.urls.canonical import RULES, Canonicalizer, MalformedUrl
from crawler.urls.scope import KINDS
from crawler.urls.standard import PARTS_RULES

if TYPE_CHECKING:
    from crawler.urls.parts import Parts
    from crawler.urls.standard import Rule

TEXT = (Path(__file__).parents[3] / "docs" / "urls.md").read_text(encoding="utf-8")
SECTIONS = {
    heading[1]: heading[2]
    for heading in re.finditer(r"^### `(\w+)`\n(.*?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL)
}


def test_every_rule_is_documented_in_order() -> None:
    assert list(SECTIONS) == [rule.name for rule in RULES]


@pytest.mark.parametrize("name", SECTIONS)
def test_section_gives_a_true_example_and_a_reason(name: str) -> None:
    section = SECTIONS[name]
    assert "\nWhy: " in section
    examples = re.findall(r"^`(.*?)` → `(.*)`$", section, re.MULTILINE)
    assert examples
    for url, expected in examples:
        assert Canonicalizer()(url) == expected
        assert _without(name, url) != expected


def _without(name: str, url: str) -> str:
    try:
        return Canonicalizer([name])(url)
    except MalformedUrl:
        return ""


@pytest.mark.parametrize("kind", KINDS)
def test_every_scope_is_documented(kind: str) -> None:
    assert f"| `{kind}` |" in TEXT


@pytest.mark.parametrize(
    "rule", [rule for rule in PARTS_RULES if rule.arguments], ids=lambda r: r.name
)
def test_every_name_of_an_argument_stands_in_its_section(rule: Rule[Parts]) -> None:
    section = SECTIONS[rule.name].lower()
    for word in re.findall(r"[a-z_]{3,}", re.sub(r"\[.*?\]", "", rule.arguments)):
        assert word in section
