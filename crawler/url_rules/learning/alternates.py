"""What tells the translations of a page apart in their URLs, as its hreflang links declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.url_rules.learning.transforms import ReplaceHost, ReplaceSegments, ReplaceValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawler.url_rules.learning.address import Address

    Difference = ReplaceHost | ReplaceSegments | ReplaceValues

_ANY_LANGUAGE = "x-default"
_SCRIPT = 4


def language_of(hreflang: str) -> str:
    """Return the language of an hreflang with its script, without its region.

    ``en-GB`` and ``en-US`` may well be one text. ``x-default``, which may be any of the others, is
    no language.
    """
    tag = hreflang.strip().lower().replace("_", "-")
    if tag == _ANY_LANGUAGE:
        return ""
    first, *others = tag.split("-")
    return "-".join([first, *(part for part in others if len(part) == _SCRIPT and part.isalpha())])


def one_of_each(alternates: Iterable[tuple[str, str]], most: int, first: int) -> list[str]:
    """Return the URLs of some translations, each in another language.

    Args:
        alternates: The hreflang and URL of each.
        most: Return at most this many.
        first: Begin with another one for another number, so that each has its turn.
    """
    urls: dict[str, str] = {}
    for hreflang, url in alternates:
        if language := language_of(hreflang):
            urls.setdefault(language, url)
    found = list(urls.values())
    start = first % len(found) if found else 0
    return [*found[start:], *found[:start]][:most]


def differences(
    translations: Sequence[Address], after_rules: Callable[[Address], Address]
) -> Iterator[Difference]:
    """Yield the one thing in which each translation of a page differs from the first.

    Args:
        translations: Their addresses.
        after_rules: Returns an address after the rules that hold. They drop what else may differ,
            such as a session, and where one of them folds languages, these too.
    """
    for other in translations[1:]:
        first = translations[0]
        found = difference(first, other) or difference(after_rules(first), after_rules(other))
        if found is not None:
            yield found


def difference(a: Address, b: Address) -> Difference | None:
    """Return the one thing in which two addresses differ, as the rule that would drop it.

    Returns:
        A host, an argument, or one segment that the path has in place of another or of none. None
        where they differ in more, or in nothing: that tells nothing of languages.
    """
    if a.host != b.host:
        is_all = (a.segments, a.arguments) == (b.segments, b.arguments)
        return ReplaceHost(a.scheme, a.host, b.scheme, b.host) if is_all else None
    if a.segments == b.segments:
        names = [name for name in a.names | b.names if a.values(name) != b.values(name)]
        if len(names) != 1:
            return None
        return ReplaceValues(names[0], a.values(names[0]), b.values(names[0]))
    return _segment(a, b) if a.arguments == b.arguments else None


def _segment(a: Address, b: Address) -> ReplaceSegments | None:
    longer, shorter = sorted((a.segments, b.segments), key=len, reverse=True)
    pairs = zip(longer, shorter, strict=False)
    place = next((at for at, (one, other) in enumerate(pairs) if one != other), len(shorter))
    rest = place + 1
    if len(longer) == len(shorter) and longer[rest:] == shorter[rest:]:
        return ReplaceSegments(False, place, longer[place:rest], shorter[place:rest])
    if longer[rest:] == shorter[place:]:
        return ReplaceSegments(False, place, longer[place:rest], ())
    return None
