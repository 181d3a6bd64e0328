"""Describe comparisons and pairs of pages for people on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.console.count_tables import example_lines
from crawler.console.escaping import plain
from crawler.lab.labels import DIFFERENT, DUPLICATE
from crawler.lab.sides import ComparedText
from crawler.lab.words import content_words, measures_of, name_text, part_sentence, rest_sentence
from neardup.comparison.diff import EQUAL, WordRun, diff, render_diff
from neardup.parts import MIN_CONTAINMENT
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.lab.border_pairs import NearPair
    from crawler.lab.comparison import Comparison, OwnShingles, PairDetails
    from crawler.lab.sides import TextSide
    from neardup import Parameters

_BITS = 64
_GROUP = 8
_SHINGLES = 5


def comparison_lines(
    found: Comparison, sides: tuple[TextSide, TextSide], parameters: Parameters
) -> Iterator[str]:
    """Yield every measure, the bits, the verdicts and the shingles that differ."""
    for letter, side, measured in zip("AB", sides, (found.first, found.second), strict=True):
        title = f"  {plain(side.title)}" if side.title else ""
        yield f"{letter}  {plain(side.name)}{title}"
        note = "" if side.is_main else ", no main text: only equality counts"
        yield f"   {many(measured.words, 'word')}, digest {measured.digest.hex()}{note}"
        yield f"   {plain(content_words(side.content))}"
    yield ""
    yield from _names(found)
    yield from _reasons(found, parameters)
    yield from _bits(found)
    yield from _measures(found)
    yield ""
    yield from _verdicts(found, parameters)
    yield from _shingles("A", found.first.own)
    yield from _shingles("B", found.second.own)


_COMPARED = {
    ComparedText.JUDGED: "judged texts, which the verdict rests on",
    ComparedText.SHOWN: "shown texts, which are exported and which no verdict rests on",
}


def diff_heading(compared: ComparedText, runs: Sequence[WordRun]) -> str:
    """Return which texts a diff is of, in one line, and whether they differ."""
    differ = "they differ in these words" if is_other(runs) else "the same, word for word"
    return f"{_COMPARED[compared]}: {differ}"


def is_other(runs: Sequence[WordRun]) -> bool:
    """Return whether two texts differ in a word."""
    return any(run.kind != EQUAL for run in runs)


def diff_text(runs: Sequence[WordRun], context: int | None, *, coloured: bool = False) -> str:
    """Two texts in one, with what was removed and added marked; hostile characters shown.

    Args:
        runs: As ``neardup.diff`` returns them.
        context: Equal words around a change; None: all.
        coloured: Whether the marks are red and green, for a terminal.
    """
    text = render_diff([_plain_run(run) for run in runs], context=context)
    return _coloured(text) if coloured else text


def _plain_run(run: WordRun) -> WordRun:
    return WordRun(run.kind, tuple(plain(word, with_lines=True) for word in run.words))


def _coloured(text: str) -> str:
    # Escapes of the texts themselves were made visible before.
    for mark, colour in (("[-", "\x1b[31m[-"), ("{+", "\x1b[32m{+")):
        text = text.replace(mark, colour)
    for mark in ("-]", "+}"):
        text = text.replace(mark, f"{mark}\x1b[0m")
    return f"{text}\x1b[0m"  # a text may hold such marks itself


def _names(found: Comparison) -> Iterator[str]:
    ours, theirs = (name_text(name) for name in found.names)
    if not (ours or theirs):
        return
    yield f"names         {found.reasons.difference or 'no difference'}"
    if ours != theirs:
        marked = diff_text(diff(ours, theirs), None)
        yield from (f"  {line}" for line in marked.splitlines())


def _reasons(found: Comparison, parameters: Parameters) -> Iterator[str]:
    part, rest_share = found.reasons.part, found.reasons.rest_share
    # Where each stands in the other one, they are near duplicates, and neither is an excerpt.
    least = min(found.first_in_second, found.second_in_first)
    if part is not None and least < MIN_CONTAINMENT:
        yield f"part          {part_sentence(part, ('A', 'B'))}"
    if rest_share is not None:
        yield f"boilerplate   {rest_sentence(rest_share, parameters.min_similarity)}"


def _bits(found: Comparison) -> Iterator[str]:
    first, second = found.first.fingerprint, found.second.fingerprint
    if first is None or second is None:
        letter = "A" if first is None else "B"
        yield f"fingerprint   none: {letter} has no features ({found.features})"
        return
    yield f"distance      {found.distance} of {_BITS} bits ({found.features})"
    differing = sum(1 << place for place in found.bits)
    yield f"  A  {_grouped(f'{first:064b}')}"
    yield f"  B  {_grouped(f'{second:064b}')}"
    marks = f"{differing:064b}".replace("0", " ").replace("1", "^")
    if differing:
        yield f"     {_grouped(marks)}".rstrip()


def _grouped(digits: str) -> str:
    return " ".join(digits[start : start + _GROUP] for start in range(0, _BITS, _GROUP))


def _measures(found: Comparison) -> Iterator[str]:
    size = found.shingle_size
    yield f"similarity    {found.jaccard:.4f} (Jaccard of word {size}-shingles)"
    if found.estimate is not None:
        estimate = found.estimate
        error = f"standard error {estimate.standard_error:.4f}"
        yield f"  estimated   {estimate.similarity:.4f} (MinHash, {error})"
    ours, theirs = found.first_in_second, found.second_in_first
    yield f"containment   {ours:.4f} of A in B, {theirs:.4f} of B in A"
    yield f"cosine        {found.cosine:.4f} (word counts), {found.log_cosine:.4f} (log counts)"
    if found.edit_ratio is not None:
        yield f"edit ratio    {found.edit_ratio:.4f} (characters)"


def _verdicts(found: Comparison, parameters: Parameters) -> Iterator[str]:
    yield f"verdict       {found.verdict}"
    yield f"  within      {' '.join(f'{at.max_distance:>6}' for at in found.verdicts)}  bits"
    confirmed = [_word(at.confirmed) for at in found.verdicts]
    words = f"confirmed by similarity {parameters.min_similarity:g}, also by bands"
    yield f"              {' '.join(f'{word:>6}' for word in confirmed)}  {words}"
    alone = [_word(at.alone) for at in found.verdicts]
    yield f"              {' '.join(f'{word:>6}' for word in alone)}  by the distance alone"


def _word(verdict: str) -> str:
    return {
        "near_duplicate": "near",
        "text_duplicate": "equal",
        "too_short": "short",
        "same_template": "other",
    }.get(verdict, verdict)


def _shingles(letter: str, own: OwnShingles) -> Iterator[str]:
    if not own.count:
        return
    yield ""
    yield f"in {letter} alone: {own.count:,} of {many(own.of, 'shingle')}"
    yield from example_lines([plain(one) for one in own.first[:_SHINGLES]], own.count, 2)


_PAIR_SHINGLES = 2
_TITLE_CHARACTERS = 60


def pair_lines(found: PairDetails, number: int, min_similarity: float) -> Iterator[str]:
    """Yield a pair's measures, its reason, its pages, and the first shingles that differ.

    The similarity has as many digits as show on which side of ``min_similarity`` it lies.
    """
    label = label_name(found.pair)
    said = f"  [{label}]" if label else ""
    pair = found.pair
    measures = measures_of(pair.distance, pair.similarity, min_similarity=min_similarity)
    yield f"{number:>4}  {measures}: {plain(found.pair.why)}{said}"
    for letter, page in (("A", found.first), ("B", found.second)):
        title = f"  {plain(page.title)[:_TITLE_CHARACTERS]}" if page.title else ""
        yield f"      {letter}  {plain(page.url) or '(without a URL)'}{title}"
    if found.names_differ_by:
        yield f"      another {found.names_differ_by}: names tell that they are different things"
    if found.runs is None:
        yield "      the text of one of them is not stored"
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
        "names_differ_by": found.names_differ_by,
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
    shown = ", ".join(f'"{plain(shingle)}"' for shingle in own.first[:_PAIR_SHINGLES])
    return f"in {letter} alone {own.count:,} of {many(own.of, 'shingle')}: {shown}" + (
        ", ..." if own.count > _PAIR_SHINGLES else ""
    )
