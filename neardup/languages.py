"""The languages of documents, as these declare them, else as their texts tell."""

import re
from functools import cache
from importlib.util import find_spec
from typing import Any

_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_UNKNOWN = frozenset({"mis", "mul", "und", "zxx"})
"""Codes of ISO 639 that name no language."""

_BEGINNING = 2_000
"""Tell a language by so many characters: those after them are code more often than prose."""
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
    return language if probability >= _SURE else None


@cache
def _detector() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415  (optional)

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


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
