"""Join the references of a page to its base, most of them without taking both apart.

A page has hundreds of references to one base, and nearly all are plain: printable ASCII, no ``;``
or ``:`` in the path, no ``.`` or empty segment in it but ``..`` in front. The join of those is a
prefix and the reference.
"""

from __future__ import annotations

import re

_HOST = r"https?://[A-Za-z0-9.-]+(?::[0-9]+)?"
_SEGMENT = r"(?!\.\.?+(?:[/?#]|\Z))[!\"$-.0-9<=>@-\[\]-~]++"
_QUERY = r"(?:\?[!\"$-\[\]-~]++)"
_FRAGMENT = r"(?:\#[!-\[\]-~]++)"
_PATH = rf"{_SEGMENT}(?:/{_SEGMENT})*+/?{_QUERY}?{_FRAGMENT}?"

_PLAIN_BASE = re.compile(rf"(({_HOST})((?:/{_SEGMENT})*+/?)){_QUERY}?")
_PLAIN = re.compile(
    rf"(?P<ups>(?:\.\./)*+)(?P<below>{_PATH})"
    rf"|(?P<fragment>{_FRAGMENT})"
    rf"|(?P<rooted>/{_PATH})"
    rf"|(?P<whole>{_HOST}/(?:{_PATH})?)"
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
        plain = _PLAIN_BASE.fullmatch(base)
        self._is_plain = plain is not None and bool(plain[3])
        self.site: str | None = None
        self.folder: str | None = None
        if plain is not None and self._is_plain:
            self._page, self.site, self._path = plain.groups()
            self.folder = self._page.rpartition("/")[0] + "/"
        self._folders: dict[str, str] = {}

    def join(self, reference: str) -> str | None:
        """Return what ``urljoin`` returns for a plain reference to a plain base, else None.

        Complexity: O(length).
        """
        plain = _PLAIN.fullmatch(reference) if self._is_plain else None
        if plain is None:
            return None
        match plain.lastgroup:
            case "below":
                return self._above(plain["ups"]) + plain["below"]
            case "whole":
                return reference
            case "rooted":
                return f"{self.site}{reference}"
            case "fragment":
                return self._base + reference
            case _:
                return self._page + reference

    def _above(self, ups: str) -> str:
        """Return the URL of a folder of the base, ``../`` for each that is above its own."""
        folder = self._folders.get(ups)
        if folder is None:
            above = self._path.rsplit("/", len(ups) // len("../") + 1)[0]
            folder = f"{self.site}{above}/"
            if len(self._folders) < _MAX_FOLDERS:
                self._folders[ups] = folder
        return folder
