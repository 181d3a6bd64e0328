"""The arguments of a query: which order is meaningless, and how one is taken out.

Arguments are what stands between ``&``. A ``;`` may separate arguments too (gitweb) or be data, and
only the server knows: so an argument with a ``;`` in it is never taken out, since another one might
go with it, and a query with a ``;`` is never sorted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


def sort_arguments(query: str) -> str:
    """Sort arguments by name, those of one name in the order in which they stand.

    ``a[1]`` and ``a[2]`` count as one name, ``a``; arguments without ``=`` as one too, so that
    ``?paris&rome`` and ``?rome&paris`` stay two pages.
    """
    if "&" not in query or ";" in query:
        return query
    return "&".join(sorted(query.split("&"), key=_name))


def drop_empty(query: str) -> str:
    """Drop empty arguments, which every reader of forms skips: ``&&``, or ``&`` at an end."""
    if "&&" not in query and not query.startswith("&") and not query.endswith("&"):
        return query
    return "&".join(filter(None, query.split("&")))


@dataclass(frozen=True)
class Removal:
    """Takes arguments out of a query.

    Attributes:
        names: Regular expression of the whole name, whatever its case.
        value: Regular expression of the whole value, whatever its case.
        keep: Regular expression of the names that stay although ``names`` matches.
    """

    names: str
    value: str = "[^&;]*"
    keep: str = "(?!)"

    def __call__(self, query: str) -> str:
        shorter = self._argument.sub("", query)
        return shorter[1:] if shorter.startswith("&") and not query.startswith("&") else shorter

    @cached_property
    def _argument(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?:^|&)(?!(?:{self.keep})=)(?:{self.names})=(?:{self.value})(?=&|\Z)",
            re.IGNORECASE | re.ASCII,
        )


def _name(argument: str) -> str:
    name, equals, _ = argument.partition("=")
    # user[][name] and user[][age] belong together, in the order in which they stand.
    return name.partition("[")[0].partition("%5B")[0].partition("%5b")[0] if equals else ""
