"""The type of a canonicalization rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.urls.parts import Parts

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rule(Generic[T]):
    """One reason why two URLs are the same page.

    Attributes:
        name: The name to switch it off by.
        meaning: One line for the user.
        apply: The rule on the whole text (``Rule[str]``) or on the parts (``Rule[Parts]``). Pure.
        arguments: Regular expression of names, if the rule only removes arguments
            with such names; all of these rules can be skipped at once.
    """

    name: str
    meaning: str
    apply: Callable[[T], T]
    arguments: str = ""


def on_host(change: Callable[[str], str]) -> Callable[[Parts], Parts]:
    """Make a function of the host one of the parts."""

    def apply(parts: Parts) -> Parts:
        host = change(parts.host)
        return parts if host == parts.host else parts._replace(host=host)

    return apply


def on_path(change: Callable[[str], str]) -> Callable[[Parts], Parts]:
    """Make a function of the path one of the parts."""

    def apply(parts: Parts) -> Parts:
        path = change(parts.path)
        return parts if path == parts.path else parts._replace(path=path)

    return apply


def on_query(change: Callable[[str], str]) -> Callable[[Parts], Parts]:
    """Make a function of the query one of the parts; a URL without a query is left alone."""

    def apply(parts: Parts) -> Parts:
        if not parts.query:
            return parts
        query = change(parts.query)
        return parts if query == parts.query else parts._replace(query=query)

    return apply
