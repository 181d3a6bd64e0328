"""Compute which rules are proved by pages with one text under several URLs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from collections.abc import Set as AbstractSet

Part = tuple[int, int, str]
"""The number of a rule, the number of a part that it changed in an address, and the old value."""

Form = frozenset[Part]
"""The difference between an address and the plainest one of its page, ids apart."""


def gained(form: Form, fetched: Collection[Form]) -> AbstractSet[Part]:
    """Return the parts that a further URL of a page would prove.

    A URL is best compared with one that has fewer parts, or more: a view of all of a page and one
    to be printed may have the same text, and the plain page another. Where no such URL was fetched,
    it is compared with all.

    Args:
        form: The form of the URL.
        fetched: The forms of the URLs of the page that were fetched.

    Complexity: quadratic in the forms of the page that were fetched, which are few.
    """
    if form in fetched:
        return frozenset()
    strong = [form ^ other for other in fetched if _is_nested(form, other)]
    if strong:
        return frozenset().union(*strong) - proved(fetched, are_nested=True)
    return frozenset().union(*(form ^ other for other in fetched)) - proved(fetched)


def proved(fetched: Collection[Form], *, are_nested: bool = False) -> Form:
    """Return the parts that are proved by URLs of a page that lead to the same text.

    Args:
        fetched: The forms of the URLs.
        are_nested: Whether to count only pairs in which one has all parts of the other.
    """
    pairs = combinations(fetched, 2)
    return frozenset[Part]().union(
        *(one ^ other for one, other in pairs if not are_nested or _is_nested(one, other))
    )


def _is_nested(one: Form, other: Form) -> bool:
    return one <= other or other <= one
