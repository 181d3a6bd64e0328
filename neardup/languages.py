"""The languages of documents, as these declare them."""

import re
from functools import cache

_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_UNKNOWN = frozenset({"mis", "mul", "und", "zxx"})
"""Codes of ISO 639 that name no language."""


def is_of_language(language: str | None, wanted: str) -> bool:
    """Return whether a declared language is a wanted one: ``en`` is ``en-GB`` and ``eng`` too."""
    spoken, asked = language_tag(language), language_tag(wanted)
    return spoken is not None and asked is not None and f"{spoken}-".startswith(f"{asked}-")


def language_tag(language: str | None) -> str | None:
    """Return a declared language in small letters, its code in two of them where it has such.

    Codes of three letters are those of ISO 639-2 and 639-3. None is returned for what names none.
    """
    tag = (language or "").strip().lower().replace("_", "-")
    if not _TAG.fullmatch(tag):
        return None
    code, hyphen, rest = tag.partition("-")
    return None if code in _UNKNOWN else _short(code) + hyphen + rest


@cache
def _short(code: str) -> str:
    if len(code) == 2:
        return code
    from babel.core import get_global  # noqa: PLC0415  (its data take a while to load)

    short = str(get_global("language_aliases").get(code, code))
    return short if len(short) == 2 else code
