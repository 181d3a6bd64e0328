"""Describe pairs of pages for people on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.console.compare_text import diff_text
from crawler.console.escaping import plain
from crawler.lab.pair_label import DIFFERENT, DUPLICATE
from crawler.lab.words import measures_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.lab.border_pairs import NearPair
    from crawler.lab.pair_details import OwnShingles, PairDetails

_SHINGLES = 2
_TITLE_CHARACTERS = 60


def pair_lines(found: PairDetails, number: int) -> Iterator[str]:
    """Yield a pair's measures, its reason, its pages, and the first shingles that differ."""
    label = label_name(found.pair)
    said = f"  [{label}]" if label else ""
    measures = measures_of(found.pair.distance, found.pair.similarity)
    yield f"{number:>4}  {measures}: {plain(found.pair.why)}{said}"
    for letter, page in (("A", found.first), ("B", found.second)):
        title = f"  {plain(page.title)[:_TITLE_CHARACTERS]}" if page.title else ""
        yield f"      {letter}  {plain(page.url) or '(without a URL)'}{title}"
    if found.runs is None:
        yield "      the text of one of them is not held"
    for letter, own in (("A", found.own_of_first), ("B", found.own_of_second)):
        if own is not None and own.count:
            yield f"      {_own(letter, own)}"


def pair_diff(found: PairDetails, context: int | None, *, coloured: bool) -> str:
    """Return the differences of a pair's texts; empty where one of them is not stored."""
    if found.runs is None:
        return ""
    return diff_text(found.runs, context, coloured=coloured)


def pair_dict(found: PairDetails, context: int | None) -> dict[str, Any]:
    """Return a pair as a dict for JSON; a context of None leaves the diff out."""
    fields: dict[str, Any] = {
        "distance": found.pair.distance if found.pair.distance >= 0 else None,
        "similarity": found.pair.similarity,
        "label": label_name(found.pair),
        "why": found.pair.why,
    }
    sides = (
        ("first", found.first, found.own_of_first),
        ("second", found.second, found.own_of_second),
    )
    for name, page, own in sides:
        fields[name] = {
            "url": page.url,
            "title": page.title,
            "words": page.words,
            "verdict": page.verdict,
            "text_digest": page.text_digest.hex(),
            "own_shingles": None if own is None else own.count,
            "shingles": None if own is None else own.of,
            "own_shingles_first": None if own is None else list(own.first),
        }
    if context is not None and found.runs is not None:
        fields["diff"] = diff_text(found.runs, context)
    return fields


def label_name(pair: NearPair) -> str | None:
    """Return the name of a pair's label, None without one."""
    if pair.label is None:
        return None
    return DUPLICATE if pair.label else DIFFERENT


def _own(letter: str, own: OwnShingles) -> str:
    shown = ", ".join(f'"{plain(shingle)}"' for shingle in own.first[:_SHINGLES])
    return f"in {letter} alone {own.count:,} of {own.of:,} shingles: {shown}" + (
        ", ..." if own.count > _SHINGLES else ""
    )
