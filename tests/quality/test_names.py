"""Floors of the verdicts that a person would give, on parts of the sets of the benchmark.

Each set is judged without names too, which shows that names are what its floor needs. The bounds
are only ever lowered.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from neardup import Parameters
from tests.quality.judged import GIVEN_UP, MISSED, OTHER_DROPPED, judge_all
from tests.quality.labelled import (
    NUMPY_TEXTS,
    Labelled,
    document_of,
    labelled_pages,
    numpy_texts,
    read_pages,
)
from tests.sites.packages import PACKAGES, SiteUnavailableError, html_folder
from tests.sites.templates.registers import directory_entries, statute_sections
from tests.sites.templates.shops import SHOPS, shop_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.quality.judged import Outcome
    from tests.sites.templates.copies import MadePage

PARAMETERS = Parameters()
PRODUCTS = 40
WITH_ONE_TITLE = 110
"""The pages of the last statute, with those that are shown twice."""

JDK_CLASSES = ("java/time/chrono/*Date.html", "java/util/Spliterators*.html")
"""Pages of java.base of which some have nearly the words of others."""


@cache
def products(shop: int) -> list[Labelled]:
    return labelled_pages(list(shop_pages(shop, PRODUCTS)), PARAMETERS)


def judged(labelled: list[Labelled], *, names: bool = True) -> Outcome:
    return judge_all(labelled, replace(PARAMETERS, compare_names=names))


def wrong(outcome: Outcome) -> list[tuple[str, str, str]]:
    """What is wrong, as a failed test shows it."""
    return [(one.kind, one.judged.label, one.kept.label) for one in outcome.wrong]


@pytest.mark.parametrize("shop", range(SHOPS))
def test_no_product_is_dropped_for_another_and_no_copy_is_kept(shop: int) -> None:
    assert not wrong(judged(products(shop)))


def test_without_names_nearly_all_products_would_be_dropped() -> None:
    dropped = sum(judged(products(shop), names=False).count(OTHER_DROPPED) for shop in range(SHOPS))
    assert dropped > 0.7 * SHOPS * PRODUCTS


ALL, LAST = slice(None), slice(-WITH_ONE_TITLE, None)
BUT_LAST = slice(-WITH_ONE_TITLE)


@pytest.mark.parametrize(
    ("made", "part"),
    [(directory_entries, ALL), (statute_sections, BUT_LAST), (statute_sections, LAST)],
    ids=["directories", "statutes", "statutes with one title"],
)
def test_no_entry_is_dropped_for_another_and_no_copy_is_kept(
    made: Callable[[], Iterator[MadePage]], part: slice
) -> None:
    labelled = labelled_pages(list(made())[part], PARAMETERS)
    assert judged(labelled, names=False).count(OTHER_DROPPED) > len(labelled) / 2
    assert not wrong(judged(labelled))


def test_classes_of_the_jdk_are_kept_beside_those_that_they_resemble() -> None:
    try:
        folder = html_folder(PACKAGES["openjdk-17-doc"]) / "java.base"
    except SiteUnavailableError as lack:
        pytest.skip(f"openjdk-17-doc is not here: {lack}")
    files = sorted(file for pattern in JDK_CLASSES for file in folder.glob(pattern))
    read = read_pages((file.name, file.read_bytes()) for file in files)
    labelled = [
        Labelled(page.url, frozenset({page.url}), document_of(page, PARAMETERS)) for page in read
    ]
    assert judged(labelled, names=False).count(OTHER_DROPPED) >= 2
    assert not wrong(judged(labelled))


@pytest.mark.slow
@pytest.mark.skipif(
    not NUMPY_TEXTS.exists(), reason="../shared/data, the labelled texts, is absent"
)
def test_few_pages_of_numpy_are_dropped_for_others_or_given_up() -> None:
    labelled = numpy_texts(PARAMETERS)
    alone, named = judged(labelled, names=False), judged(labelled)
    others, copies = alone.count(OTHER_DROPPED), named.copies
    assert others > 1000
    print(named.count(OTHER_DROPPED), others, named.count(GIVEN_UP), named.count(MISSED), copies)
    assert named.count(OTHER_DROPPED) <= 0.01 * others
    assert named.count(GIVEN_UP) <= 0.01 * copies
    assert named.count(MISSED) <= 0.01 * copies
