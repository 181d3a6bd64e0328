"""Cut the name of the site off a title: ``Lamps | Acme`` of acme.example is ``Lamps``.

A part of a title is cut off only where something tells that it is the site's: it is a name that the
page gives its site, or that of the host; or the page says the rest of the title alone, as its first
heading or in ``og:title``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEPARATOR = re.compile(
    r"\s+(?:[-–—―·•:|/~>»«‹›⋅*]|::|--|\|\|)\s+|\s*[|｜»]\s*|(?<=\w):\s+|\s+@\s+"
)
_NOT_WORDS = re.compile(r"[\W_]+")
_SECOND_LEVEL = frozenset("ac co com edu gov net ne or org gob gouv".split())
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


def without_site(title: str, site_names: Iterable[str], alone: Iterable[str | None]) -> str:
    """Return a title without the name of its site; the whole title where that is uncertain.

    Args:
        title: The title, in one line.
        site_names: Names of the site and of its host, folded.
        alone: What may be the title without the name: the first heading, ``og:title``.
    """
    separators = list(_SEPARATOR.finditer(title))[: _MAX_PARTS - 1]
    if not separators:
        return title
    names = frozenset(site_names)
    last = title[separators[-1].end() :]
    if folded_name(last) in names:
        return _unless_bare(title[: separators[-1].start()], title, names)
    first = title[: separators[0].start()]
    if folded_name(first) in names:
        return _unless_bare(title[separators[0].end() :], title, names)
    for text in alone:
        words = folded_name(text or "")
        if words and words not in names:
            for found in reversed(separators):
                if folded_name(title[: found.start()]) == words:
                    return _unless_bare(title[: found.start()], title, names)
    return title


def _unless_bare(rest: str, title: str, names: frozenset[str]) -> str:
    """Return what remains of a title if it says anything but names of the site."""
    rest = rest.strip()
    folded = folded_name(rest)
    return rest if len(folded) >= _MIN_CHARACTERS and folded not in names else title
