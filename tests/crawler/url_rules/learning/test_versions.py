"""Names in paths that choose versions of pages."""

from __future__ import annotations

import pytest

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.template import templates
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    Compound,
    DropArguments,
    ReplaceSegments,
    ReplaceValues,
    Rewrite,
    SortSegments,
)
from crawler.url_rules.learning.versions import MIN_TEXTS, Versions, swap, takes_names

ENOUGH = range(MIN_TEXTS)


def names(old: str, new: str, offset: int = 1, *, at_end: bool = False) -> ReplaceSegments:
    return ReplaceSegments(at_end, offset, (old,), (new,))


def shapes(one: str, other: str) -> Rewrite:
    found = templates(*(Address.parse(f"http://a.test/{path}") for path in (one, other)))
    assert found is not None
    return Rewrite(*found)


def noted(*transforms: ReplaceSegments | Rewrite) -> Versions:
    versions = Versions()
    for transform in transforms:
        versions.note(transform, ENOUGH)
    return versions


def test_an_argument_that_chooses_versions_does_so_beside_a_session() -> None:
    versions, session = Versions(), ReplaceSegments(False, 0, ("s", ANYTHING), ("s", "*"))
    compound = Compound(session, DropArguments(("hl",)))
    assert not versions.choose(compound)
    for text in ENOUGH:
        versions.note_translations(ReplaceValues("hl", ("de",), ("en",)), text)
    assert versions.choose(compound)
    assert not versions.choose(Compound(session, DropArguments(("ref",))))


def test_other_names_in_the_same_place_are_doubted() -> None:
    versions = noted(names("de", "en"))
    assert versions.choose(names("da", "en"))
    assert versions.choose(names("pt-br", "ru"))
    assert versions.choose(shapes("docs/es/1/a.html", "docs/ru/1/a.html"))
    assert not versions.choose(names("de", "fr", offset=2))
    assert not versions.choose(names("print", "article", offset=0))


def test_names_that_choose_elsewhere_are_doubted_everywhere() -> None:
    versions = noted(names("de", "en"))
    assert versions.choose(names("en", "de", offset=2, at_end=True))
    assert not versions.choose(names("en", "fr", offset=2, at_end=True))


def test_anything_in_such_a_place_is_doubted() -> None:
    versions = noted(names("de", "en"))
    assert versions.choose(ReplaceSegments(False, 1, (ANYTHING,), ("*",)))
    assert versions.choose(ReplaceSegments(False, 0, ("docs", ANYTHING), ("docs",)))
    assert not versions.choose(ReplaceSegments(False, 2, (ANYTHING,), ("*",)))


def test_few_texts_say_nothing() -> None:
    versions = Versions()
    versions.note(names("de", "en"), [1])
    versions.note(names("fr", "en"), [1, 2])
    assert not versions.choose(names("da", "en"))
    versions.note(names("es", "en"), [3])
    assert versions.choose(names("da", "en"))


def address(path: str) -> Address:
    return Address.parse(f"http://a.test/{path}")


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("docs/da/a.html", "docs/ru/a.html", True),
        ("docs/da/a.html?x=1", "docs/ru/a.html?x=1", True),
        ("docs/da/a.html?x=1", "docs/ru/a.html", False),
        ("docs/da/a.html", "docs/ru/b.html", False),
        ("docs/da/a.html", "docs/ru/a", False),
        ("docs/da/a.html", "docs/17/a.html", False),
        ("docs/da/a.html", "docs/a.html", False),
        ("docs/da/a.html", "books/da/a.html", False),
        ("docs/da/a.html", "docs/da/a.html", False),
    ],
)
def test_addresses_that_differ_in_names_of_versions_alone_are_told_apart(
    one: str, other: str, are: bool
) -> None:
    versions = noted(names("de", "en"))
    assert versions.tell_apart(address(one), address(other)) is are
    assert versions.tell_apart(address(other), address(one)) is are
    assert not Versions().tell_apart(address(one), address(other))


def test_names_that_told_addresses_apart_are_doubted_elsewhere() -> None:
    versions = noted(names("de", "en"))
    rule = names("da", "ru", at_end=True)
    assert not versions.choose(rule)
    assert versions.tell_apart(address("docs/da/a.html"), address("docs/ru/a.html"))
    assert versions.choose(rule)


def test_what_is_noted_tells_whether_more_is_doubted() -> None:
    versions = Versions()
    assert not versions.note(names("de", "en"), [1, 2])
    assert versions.note(names("de", "en"), [3])
    assert not versions.note(names("de", "en"), [4])
    assert versions.note(names("fr", "en"), [])


def test_ids_are_no_names() -> None:
    versions = noted(names("a81", "bc2"))
    assert not versions.choose(ReplaceSegments(False, 1, (ANYTHING,), ("*",)))


def test_rules_about_arguments_are_none_of_this() -> None:
    versions = Versions()
    versions.note(DropArguments(("lang",)), ENOUGH)
    assert swap(DropArguments(("lang",))) is None
    assert not versions.choose(DropArguments(("lang",)))


@pytest.mark.parametrize(
    ("transform", "does"),
    [
        (names("de", "en"), True),
        (ReplaceSegments(False, 0, ("print",), ()), True),
        (shapes("print/17", "article/17"), True),
        (ReplaceSegments(False, 0, ("s", ANYTHING), ()), False),
        (SortSegments(("shop",)), True),
        (DropArguments(("sid",)), False),
    ],
)
def test_which_rules_have_no_exceptions(
    transform: ReplaceSegments | Rewrite | SortSegments | DropArguments, does: bool
) -> None:
    assert takes_names(transform) is does


def test_shapes_of_different_length_swap_nothing() -> None:
    assert swap(shapes("print/x/17", "article/17")) is None
