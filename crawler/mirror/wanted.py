"""Which files does the user want? By the last part of their URL."""

from __future__ import annotations

import fnmatch
import re
from urllib.parse import unquote, urlsplit

_PAGE_ENDINGS = frozenset("asp aspx cfm cgi do htm html jsp php php5 phtml pl shtml xhtml".split())
# "release-1.2", "John.Smithers" and "what..." end in none.
_ENDING = re.compile(r"[a-z][a-z0-9]{0,4}|[0-9][a-z][a-z0-9]?")
_BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgt])(i?))?b?", re.IGNORECASE)
_UNITS = " kmgt"


class WantedNames:
    """Endings (``pdf``, ``.pdf``) and patterns (``*-large.*``) of names, upper case or lower.

    Args:
        accept: Comma-separated; only these are fetched, and whatever may be a page.
        reject: Comma-separated; none of these is fetched.
    """

    def __init__(self, accept: str, reject: str) -> None:
        self._accept = _patterns(accept)
        self._reject = _patterns(reject)

    def allows(self, url: str) -> bool:
        """Whether a URL is to be fetched."""
        if self._reject is None and self._accept is None:
            return True
        name = unquote(urlsplit(url).path.rpartition("/")[2]).lower()
        if self._reject is not None and self._reject.fullmatch(name):
            return False
        if self._accept is None:
            return True
        stem, _, ending = name.rpartition(".")
        may_be_page = not stem or ending in _PAGE_ENDINGS or not _ENDING.fullmatch(ending)
        return may_be_page or self._accept.fullmatch(name) is not None


def _patterns(written: str) -> re.Pattern[str] | None:
    parts = [part.strip().lower() for part in written.split(",") if part.strip()]
    if not parts:
        return None
    globs = (part if set(part) & set("*?[") else f"*.{part.lstrip('.')}" for part in parts)
    return re.compile("|".join(f"(?:{fnmatch.translate(glob)})" for glob in globs))


def byte_count(written: str) -> int:
    """The bytes of a size such as ``500M``, ``1.5 GB``, ``2GiB`` or ``20000``.

    M and MB are a million, MiB 1,024 times 1,024.

    Raises:
        ValueError: It is none, or nothing.
    """
    found = _BYTES.fullmatch(written.strip())
    count = 0
    if found is not None:
        power = _UNITS.index((found[2] or " ").lower())
        count = int(float(found[1]) * (1024 if found[3] else 1000) ** power)
    if count <= 0:
        raise ValueError(f"a size such as 500M or 2G is wanted, got {written!r}")
    return count
