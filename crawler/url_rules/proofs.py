"""What pages with one text under several URLs prove of the rules that take the URLs for one."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from collections.abc import Set as AbstractSet

Part = tuple[int, int, str]
"""What a rule changed in an address: its number, which of the things that it drops, which value."""

Form = frozenset[Part]
"""How an address differs from the plainest one of its page, but for ids."""


def gained(form: Form, fetched: Collection[Form]) -> AbstractSet[Part]:
    """Return what another URL of a page would prove, beside those of it that were fetched.

    A URL is held best against one that has fewer parts, or more: a view of all of a page and one
    to be printed may say the same, and the plain page something else. Where there is none
    of that kind, against any.

    Complexity: quadratic in the forms of the page that were fetched, which are few.
    """
    if form in fetched:
        return frozenset()
    strong = [form ^ other for other in fetched if _is_nested(form, other)]
    if strong:
        return frozenset().union(*strong) - proved(fetched, are_nested=True)
    return frozenset().union(*(form ^ other for other in fetched)) - proved(fetched)


def proved(fetched: Collection[Form], *, are_nested: bool = False) -> Form:
    """Return what URLs of a page prove that lead to the same text.

    Args:
        fetched: Their forms.
        are_nested: Whether only pairs count of which one has all parts of the other.
    """
    pairs = combinations(fetched, 2)
    return frozenset[Part]().union(
        *(one ^ other for one, other in pairs if not are_nested or _is_nested(one, other))
    )


def _is_nested(one: Form, other: Form) -> bool:
    return one <= other or other <= one
