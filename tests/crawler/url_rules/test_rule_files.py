"""Rules as files: what one crawl writes, another reads; what is no rule is refused by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.template import Template, templates
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    DropArguments,
    LowerPath,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    Rewrite,
    SortSegments,
)
from crawler.url_rules.rule_files import (
    RuleFileError,
    discarder_text,
    read_rules,
    restored,
    rules_text,
    stored,
)
from crawler.url_rules.rule_set import RuleSet

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.url_rules.learning.proposals import Proposal

HOST = "example.com:8080"
SHAPES = templates(
    Address.parse(f"http://{HOST}/print?id=12"), Address.parse(f"http://{HOST}/article/12")
)
assert SHAPES is not None
EVERY_KIND: list[Proposal] = [
    (Context(HOST), DropArguments(("ref", "sid"))),
    (Context(HOST, "/list", beside=frozenset({"page"})), DropArguments(("sort",))),
    (Context(HOST, "/list", where=("view", "grid")), ReplaceValues("start", ("0",), ())),
    (Context(HOST, "/x/*", beside=frozenset()), ReplaceValues("a", (None, "b"), ("b",))),
    (Context(HOST), ReplaceSegments(False, 0, ("s", ANYTHING), ("s",))),
    (Context(HOST), ReplaceSegments(True, 0, ("index.html",), ("",))),
    (Context(HOST), LowerPath()),
    (Context(HOST), SortSegments(("shop",))),
    (Context(HOST), ReplaceHost("http", f"www.{HOST}", "https", HOST)),
    (Context(HOST), Rewrite(*SHAPES)),
]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text(rules_text(EVERY_KIND), encoding="utf-8")
    assert read_rules(path) == EVERY_KIND


def plain_rule() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(json.dumps(stored(*EVERY_KIND[0])))
    return written


def changed(part: str, **fields: object) -> dict[str, Any]:
    rule = plain_rule()
    rule[part].update(fields)
    return rule


NO_RULES: dict[str, tuple[object, str]] = {
    "a number": (7, "no rule"),
    "nothing": ({}, "context"),
    "no transform": ({"context": {"host": HOST}}, "transform"),
    "no host": ({**plain_rule(), "context": {}}, "host"),
    "host is a number": (changed("context", host=7), "host"),
    "pattern is a list": (changed("context", pattern=["/a"]), "pattern"),
    "beside is a word": (changed("context", beside="page"), "beside"),
    "beside holds a number": (changed("context", beside=[1]), "beside"),
    "where is one word": (changed("context", where=["view"]), "where"),
    "a place that is none": (changed("context", path="/a"), "path"),
    "a part that is none": ({**plain_rule(), "since": 1}, "since"),
    "unknown kind": (changed("transform", kind="guess"), "no kind of rule: 'guess'"),
    "a standard rule": (
        {**plain_rule(), "transform": {"kind": "standard", "name": "sort_arguments"}},
        "a standard one",
    ),
    "kind is a list": (changed("transform", kind=["drop arguments"]), "no kind of rule"),
    "unknown field": (changed("transform", values=["1"]), "values"),
    "names is a word": (changed("transform", names="sid"), "names"),
    "names holds a number": (changed("transform", names=["sid", 1]), "names"),
    "no names": (changed("transform", names=[]), "names"),
    "transform is a list": ({**plain_rule(), "transform": [1, 2]}, "no rule"),
    "offset is a word": (
        {
            **plain_rule(),
            "transform": {
                "kind": "replace segments", "at_end": False, "offset": "0", "old": ["a"], "new": [],
            },
        },
        "offset",
    ),
    "offset below zero": (
        {
            **plain_rule(),
            "transform": {
                "kind": "replace segments", "at_end": False, "offset": -1, "old": ["a"], "new": [],
            },
        },
        "offset",
    ),
    "variable that the source lacks": (
        {
            **plain_rule(),
            "transform": {
                "kind": "rewrite",
                "source": {"segments": [["a", 0]], "arguments": []},
                "target": {"segments": [[1]], "arguments": []},
            },
        },
        "target",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "named"), NO_RULES.values(), ids=NO_RULES)
def test_what_is_no_rule_is_refused(tmp_path: Path, rule: object, named: str) -> None:
    path = tmp_path / "rules.json"
    content = {"format": "crawl-once rules 1", "rules": [plain_rule(), rule]}
    path.write_text(json.dumps(content))
    with pytest.raises(RuleFileError) as caught:
        read_rules(path)
    assert str(caught.value).startswith(f"{path}: rule 2: ")
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (None, "No such file"),
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no rules as"),
        (b'{"rules": []}', "no rules as"),
        (b'{"format": "crawl-once rules 1"}', "no rules as"),
        (b'{"format": "crawl-once rules 1", "rules": {}}', "no rules as"),
        (b'{"format": "crawl-once rules 9", "rules": []}', "no rules as"),
    ],
)
def test_file_without_rules_is_refused(tmp_path: Path, content: bytes | None, named: str) -> None:
    path = tmp_path / "rules.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RuleFileError, match=named) as caught:
        read_rules(path)
    assert str(path) in str(caught.value)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuleFileError, match="directory"):
        read_rules(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
)
ADDRESSES = [
    Address.parse(f"http://{HOST}{target}")
    for target in ("/", "/list?sort=a&page=2", "/print?id=3", "/s/1/index.html", "/X//y?a&a=b")
]


class TestRestoredProperties:
    @given(st.sampled_from(EVERY_KIND), st.data())
    def test_a_part_that_is_exchanged_is_refused_or_makes_a_rule_that_can_be_applied(
        self, rule: Proposal, data: st.DataObject
    ) -> None:
        written: Any = json.loads(json.dumps(stored(*rule)))
        part = data.draw(st.sampled_from(["context", "transform"]))
        field = data.draw(st.sampled_from(sorted(written[part])))
        written[part][field] = data.draw(JSON)
        try:
            found = restored(written)
        except ValueError:
            return
        rules = RuleSet()
        rules.add(LearnedRule(1, *found))
        for address in ADDRESSES:
            assert len(rules.apply(address).digest) == 16
        assert restored(json.loads(json.dumps(stored(*found)))) == found

    def test_templates_hold_what_was_written(self) -> None:
        template = Template((("a", 0), ()), (("id", None), ("n", (1, "x"))))
        rule = (Context(HOST), Rewrite(template, template))
        assert restored(json.loads(json.dumps(stored(*rule)))) == rule


DISCARDED: list[Proposal] = [
    (Context(HOST), DropArguments(("ref", "sid"))),
    (Context(HOST, "/entry"), DropArguments(("edition",))),
    (Context(HOST), ReplaceSegments(False, 0, ("print",), ())),
    (Context(HOST), ReplaceSegments(False, 0, ("s", ANYTHING), ("s",))),
    (Context(HOST), ReplaceSegments(False, 0, ("view", ANYTHING), ())),
]
NOT_DISCARDED: list[Proposal] = [
    (Context(HOST, "/board/*/"), DropArguments(("sort",))),
    (Context(HOST, "/list", beside=frozenset()), DropArguments(("sort",))),
    (Context(HOST), ReplaceSegments(False, 1, ("s", ANYTHING), ("s",))),
    (Context(HOST), ReplaceSegments(True, 0, ("index.html",), ("",))),
    *EVERY_KIND[2:4],
    *EVERY_KIND[6:],
]
EXAMPLES = {
    "/a?sid=1&x=2": "/a?x=2",
    "/entry?edition=3&id=1&ref=4": "/entry?id=1",
    "/entry2?edition=3&id=1": "/entry2?edition=3&id=1",
    "/entry/x?edition=3": "/entry/x?edition=3",
    "/x/entry?edition=3": "/x/entry?edition=3",
    "/print/a/b?sid=1": "/a/b",
    "/print/": "/",
    "/printer/a": "/printer/a",
    "/x/print/a": "/x/print/a",
    "/s/0af3/b": "/s/b",
    "/s/0af3/b/c?id=1": "/s/b/c?id=1",
    "/s/": "/s/",
    "/view/7/a": "/a",
    "/views/7/a": "/views/7/a",
}


def test_what_the_discarder_cannot_express_is_told() -> None:
    text, left = discarder_text([*DISCARDED, *NOT_DISCARDED])
    assert left == NOT_DISCARDED
    assert len(json.loads(text)) == len(DISCARDED)


class TestDiscarder:
    """By the code of duplicate-url-discarder itself."""

    @pytest.fixture
    def canonical(self, tmp_path: Path) -> Any:
        module = pytest.importorskip(
            "duplicate_url_discarder.url_canonicalizer",
            reason="duplicate-url-discarder is not installed",
        )
        path = tmp_path / "rules.json"
        path.write_text(discarder_text(DISCARDED)[0])
        return module.UrlCanonicalizer([path]).process_url

    @pytest.mark.parametrize(("target", "wanted"), EXAMPLES.items())
    def test_says_what_our_rules_say(self, canonical: Any, target: str, wanted: str) -> None:
        rules = RuleSet()
        for number, rule in enumerate(DISCARDED):
            rules.add(LearnedRule(number, *rule))
        url = f"http://{HOST}{target}"
        assert canonical(url) == str(rules.apply(Address.parse(url))) == f"http://{HOST}{wanted}"

    @pytest.mark.parametrize("origin", ["http://example.com", f"http://sub.{HOST}"])
    def test_leaves_other_hosts_alone(self, canonical: Any, origin: str) -> None:
        for target in EXAMPLES:
            assert canonical(f"{origin}{target}") == f"{origin}{target}"
