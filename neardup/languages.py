"""The languages of documents, as these declare them, else as their texts tell."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from neardup.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from babel import Locale

_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_UNKNOWN = frozenset({"mis", "mul", "und", "zxx"})
"""Codes of ISO 639 that name no language."""

_BEGINNING = 2_000
"""Tell a language by this many characters: those after them are code more often than prose."""
_SURE = 0.95
"""Take a language of a text from this probability on; that of a few words is less."""

TELLS_TEXTS = find_spec("py3langid") is not None
"""Whether the extra ``languages`` is installed, by which texts tell their language."""


def declared_or_told(declared: str | None, text: str) -> str | None:
    """Return the languages that a document declares, else the one that its text tells, or None.

    Without the extra ``languages`` no text tells one, and in no case a text of few words.

    Args:
        declared: Languages with commas between them, or None.
        text: The text of the document.
    """
    if any(map(language_tag, (declared or "").split(","))):
        return declared
    if not TELLS_TEXTS:
        return None
    language, probability = _detector().classify(text[:_BEGINNING])
    # One of those that it tells is zxx: no language.
    return language if probability >= _SURE and language_tag(language) else None


@cache
def _detector() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415  (optional)

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def language_codes(written: str | None) -> tuple[str, ...]:
    """Return the codes of ``--language``, such as ``en,de``; none are chosen where it is None.

    Raises:
        ParameterError: One of them is no code.
    """
    codes = () if written is None else tuple(written.split(","))
    for code in codes:
        if language_tag(code) is None:
            raise ParameterError(
                f'languages are codes such as en, pt-BR or en,de; "{code}" is none'
            )
    return codes


def is_of_language(declared: str | None, wanted: Iterable[str]) -> bool:
    """Return whether a wanted language is declared: ``en`` is ``en-GB`` and ``eng`` too."""
    tags = [f"{tag}-" for one in (declared or "").split(",") if (tag := language_tag(one))]
    return any(tag.startswith(f"{language_tag(code)}-") for code in wanted for tag in tags)


def language_tag(language: str | None) -> str | None:
    """Return a declared language in small letters, its code in two of them where it has such.

    Codes of three letters are those of ISO 639-2 and 639-3. None is returned for what names none.
    """
    tag = (language or "").strip().lower().replace("_", "-")
    if not _TAG.fullmatch(tag):
        return None
    code, hyphen, rest = tag.partition("-")
    return None if code in _UNKNOWN else _short(code) + hyphen + rest


def locale_of(language: str) -> Locale | None:
    """Return what CLDR knows of a declared language such as ``de`` or ``pt-BR``; None: nothing."""
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415  (its data take a while to load)

    try:
        return Locale.parse(language, sep="-")
    except (UnknownLocaleError, ValueError):  # a page may declare anything
        return None


@cache
def _short(code: str) -> str:
    if len(code) == 2:
        return code
    from babel.core import get_global  # noqa: PLC0415  (its data take a while to load)

    short = str(get_global("language_aliases").get(code, code))
    return short if len(short) == 2 else code
