"""Cut the name of the site off a title: ``Lamps | Acme`` of acme.example is ``Lamps``.

A part of a title is cut off only where something tells that it is the site's: it is a name that the
page gives its site, or that of the host; or the page says the rest of the title alone, as its first
heading or in ``og:title``. Two places that say the same tell the title better than ``title`` does,
which is written for search engines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEPARATOR = re.compile(
    r"\s+(?:[-·•:/~>«‹›⋅*@]|::|--|\|\|)\s+|\s*[|｜»]\s*|\s*[–—―]\s+|(?<=\w):\s+"
)
_NOT_WORDS = re.compile(r"[\W_]+")
_SECOND_LEVEL = frozenset("ac co com edu gov net ne or org gob gouv".split())
# What follows the name of a site: "Acme Forums", "Acme's blog".
_KIND_OF_SITE = re.compile(
    r"s?(?:blogs?|community|docs|documentation|forums?|help|official|onlineshop|onlinestore|"
    r"officialsite|officialwebsite|shop|store|support|website|wiki|"
    r"coop|gmbh|global|inc|international|llc|ltd|online|uk|us|usa)$"
)
# Ends that are parts only where they name the site: "Searching [Acme]", "Shoes. Acme.com".
_END = re.compile(r"\s+\[([^\[\]]+)\]$|\.\s+(\S+)$")
_MAX_PARTS = 12
_MIN_CHARACTERS = 2


def folded_name(text: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return _NOT_WORDS.sub("", text.casefold()).removeprefix("the")


def host_names(url: str) -> set[str]:
    """Return the names that a host may be called by, folded: ``acme`` and ``acmeexample``."""
    try:
        host = (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return set()
    labels = host.split(".")
    if len(labels) < 2 or labels[-1].isdigit():
        return set()
    end = -3 if len(labels) > 2 and labels[-2] in _SECOND_LEVEL else -2
    names = {host, labels[end], ".".join(labels[end:])}
    return {folded for name in names if len(folded := folded_name(name)) >= _MIN_CHARACTERS}


def is_home_page(url: str) -> bool:
    """Whether a URL is that of a site's first page, whose title may be a motto behind its name."""
    try:
        return urlsplit(url).path in {"", "/"}
    except ValueError:
        return False


def title_of(title: str, names: frozenset[str], heading: str, others: Iterable[str]) -> str:
    """Return what a page calls itself, without the name of its site.

    That is its first heading where ``og:title`` or JSON-LD says the same, else its title without
    the parts that are the site's, and without all behind the part that is the heading.

    Args:
        title: The title, in one line.
        names: Names of the site and of its host, folded.
        heading: The first heading, or empty.
        others: What else may be the title alone: ``og:title``, ``headline`` of JSON-LD.
    """
    told = {folded_name(text) for text in others}
    folded = folded_name(heading)
    if len(folded) >= _MIN_CHARACTERS and folded not in names and folded in told:
        return without_site(heading, names)
    short = _without_rest(without_site(title, names), {folded, *told} - names - {""})
    return without_site(short, names)  # og:title may end in it too


def without_site(title: str, names: frozenset[str], *, only_last: bool = False) -> str:
    """Return a title without parts at its ends that are a name of the site.

    Args:
        title: The title, in one line.
        names: Names of the site and of its host, folded.
        only_last: Whether a name stays at the beginning, as in that of a home page.
    """
    for _ in range(_MAX_PARTS):
        end = _END.search(title)
        separators = list(_SEPARATOR.finditer(title))
        last, first = (separators[-1], separators[0]) if separators else (None, None)
        if end is not None and _is_of_site(end[1] or end[2], names):
            rest = title[: end.start()]
        elif first is None or last is None:
            break
        elif _is_of_site(title[last.end() :], names):
            rest = title[: last.start()]
        elif not only_last and _is_of_site(title[: first.start()], names):
            rest = title[first.end() :]
        else:
            break
        rest = rest.strip()
        folded = folded_name(rest)
        if len(folded) < _MIN_CHARACTERS or folded in names:
            break
        title = rest
    return title


def _is_of_site(part: str, names: frozenset[str]) -> bool:
    folded = folded_name(part)
    return folded in names or _KIND_OF_SITE.sub("", folded) in names


def _without_rest(title: str, told: set[str]) -> str:
    """Return the first parts of a title if they are said alone, else the whole title."""
    for found in list(_SEPARATOR.finditer(title))[:_MAX_PARTS]:
        first = title[: found.start()].strip()
        if ":" not in found[0] and folded_name(first) in told:
            return first
    return title
