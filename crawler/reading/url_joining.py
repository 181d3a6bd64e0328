"""Join the references of a page to its base, most of them without taking both apart.

A page has hundreds of references to one base, and nearly all are plain: printable ASCII, no ``;``
in the path, no ``.`` or empty segment in a path that is joined but ``./`` or ``..`` in front, no
``:`` where it could end a scheme. The join of those is a prefix and the reference.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

_HOST = r"[A-Za-z0-9.-]+(?::[0-9]+)?"
_NO_DOTS = r"(?!\.\.?+(?:[/?#]|\Z))"
_FIRST = rf"{_NO_DOTS}[!\"$-.0-9<=>@-\[\]-~]++"
_SEGMENT = rf"{_NO_DOTS}[!\"$-.0-:<=>@-\[\]-~]++"
_ANY_PATH = r"(?:/[!\"$-:<=>@-\[\]-~]*+)?"
_QUERY = r"(?:\?[!\"$-\[\]-~]++)"
_FRAGMENT = r"(?:\#[!-\[\]-~]++)"
_END = rf"{_QUERY}?{_FRAGMENT}?"

_PLAIN_BASE = re.compile(rf"((https?:)//{_HOST}((?:/{_SEGMENT})*+/?)){_QUERY}?")
_PLAIN = re.compile(
    rf"(?:\./)?(?P<ups>(?:\.\./)*+)(?P<below>(?:{_FIRST}(?:/{_SEGMENT})*+/?|(?<=\./)){_END})"
    rf"|(?P<fragment>{_FRAGMENT})"
    rf"|(?P<rooted>/(?:{_SEGMENT}(?:/{_SEGMENT})*+/?)?{_END})"
    rf"|(?P<whole>https?://{_HOST}{_ANY_PATH}{_END})"
    rf"|(?P<network>//{_HOST}{_ANY_PATH}{_END})"
    rf"|(?P<query>{_QUERY}{_FRAGMENT}?)"
)

# A base may be a megabyte long and have as many folders.
_MAX_FOLDERS = 16


class PlainJoiner:
    """Joins the plain references of one page.

    Attributes:
        site: Scheme and host of a plain base, on which alone the join of ``/...`` depends.
        folder: URL of its folder, on which alone the join of other paths depends.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        self.site: str | None = None
        self.folder: str | None = None
        self._folders: dict[str, str] = {}
        plain = _PLAIN_BASE.fullmatch(base)
        self._is_plain = plain is not None and bool(plain[3])
        if plain is None or not self._is_plain:
            return
        page, scheme, self._path = plain.groups()
        self.site = page.removesuffix(self._path)
        self.folder = page.rpartition("/")[0] + "/"
        self._before: dict[str | None, str] = {
            "whole": "",
            "network": scheme,
            "rooted": self.site,
            "query": page,
            "fragment": base,
        }

    def join(self, reference: str) -> str | None:
        """Return what ``urljoin`` returns for a plain reference to a plain base, else None.

        Complexity: O(length).
        """
        if not self._is_plain:
            return None
        if not reference:
            return self._base
        plain = _PLAIN.fullmatch(reference)
        if plain is None:
            return None
        if plain.lastgroup == "below":
            return self._above(plain["ups"]) + plain["below"]
        return self._before[plain.lastgroup] + reference

    def _above(self, ups: str) -> str:
        """Return the URL of a folder of the base, ``../`` for each that is above its own."""
        folder = self._folders.get(ups)
        if folder is None:
            above = self._path.rsplit("/", len(ups) // len("../") + 1)[0]
            folder = f"{self.site}{above}/"
            if len(self._folders) < _MAX_FOLDERS:
                self._folders[ups] = folder
        return folder


def joined(base: str, address: str) -> str:
    """Return what ``urljoin`` returns; what is no URL stays as it is."""
    address = address.strip()
    try:
        return urljoin(base, address)
    except ValueError:  # http://[x
        return address
