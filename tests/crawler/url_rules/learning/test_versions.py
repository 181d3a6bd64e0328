"""Names in paths that choose versions of pages."""

from __future__ import annotations

import pytest

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.template import templates
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    DropArguments,
    ReplaceSegments,
    Rewrite,
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
        (DropArguments(("sid",)), False),
    ],
)
def test_which_rules_have_no_exceptions(
    transform: ReplaceSegments | Rewrite | DropArguments, does: bool
) -> None:
    assert takes_names(transform) is does


def test_shapes_of_different_length_swap_nothing() -> None:
    assert swap(shapes("print/x/17", "article/17")) is None
