"""Describe what the commands of the lab find: comparisons, pairs of pages and sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.console.escaping import plain
from crawler.console.report_text import example_lines, table_lines
from crawler.lab.distance_evidence import LABELS
from crawler.lab.judgement import MAX_DISTANCE, MIN_SIMILARITY, NO_BOUND
from crawler.lab.labels import DIFFERENT, DUPLICATE
from crawler.lab.sides import ComparedText
from crawler.lab.words import content_words, measures_of, name_text, part_sentence, rest_sentence
from neardup.comparison.diff import EQUAL, WordRun, diff, render_diff
from neardup.parts import MIN_CONTAINMENT
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawler.lab.comparison import Comparison, OwnShingles, PairDetails
    from crawler.lab.distance_evidence import DistanceEvidence, EvidenceLine
    from crawler.lab.judgement import Judgement, Sweep, SweepLine
    from crawler.lab.near_pairs import NearPair
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
    given_label = f"  [{label}]" if label else ""
    pair = found.pair
    measures = measures_of(pair.distance, pair.similarity, min_similarity=min_similarity)
    yield f"{number:>4}  {measures}: {plain(found.pair.why)}{given_label}"
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


_SHOWN = {
    "same_template": "same template",
    "payload": "same bytes",
    "text": "same text",
    "simhash": "simhash",
    "candidate": "candidate",
    "contained": "part",
}
"""Headings of the layers that a text of something known comes to; the first one keeps it."""

_BOUNDS = {MAX_DISTANCE: "bits", MIN_SIMILARITY: "similarity", NO_BOUND: ""}
"""Headings of the column of the bound that is varied."""


def sweep_text(
    sweep: Sweep,
    running: Judgement,
    holds: Parameters,
    evidence: DistanceEvidence | None,
) -> Iterator[str]:
    """Yield the lines of a sweep.

    Args:
        sweep: The result for each value of a bound.
        running: The result for the crawl's parameters.
        holds: The crawl's parameters.
        evidence: The evidence for each value; None where no bound counts.
    """
    yield many(len(running), "page")
    yield f"holds:  {parameters_text(holds)}"
    yield f"        {running.kept_count:,} kept, {running.dropped_count:,} dropped"
    yield f"tried:  {_tried_text(sweep)}"
    yield ""
    yield from _sweep_table(sweep, holds, evidence)
    yield ""
    yield from _footnotes(sweep, evidence)


def parameters_text(parameters: Parameters) -> str:
    """Return parameters in one line."""
    within = f"within {many(parameters.max_distance, 'bit')}"
    confirmed = f"confirmed by similarity {parameters.min_similarity:g}"
    verified = f"{within} or found by MinHash, {confirmed}"
    return _joined(parameters, verified if parameters.verify else f"{within}, unconfirmed")


def _tried_text(sweep: Sweep) -> str:
    """Return the parameters of a sweep without the bound that it varies."""
    parameters = sweep.lines[0].choice.parameters
    if sweep.bound == NO_BOUND:
        return "equal bytes and equal texts alone"
    if not parameters.verify:
        return _joined(parameters, "unconfirmed")
    if sweep.bound == MIN_SIMILARITY:
        within = f"within {many(parameters.max_distance, 'bit')}"
        return _joined(parameters, f"{within} or found by MinHash")
    confirmed = f"confirmed by similarity {parameters.min_similarity:g}"
    return _joined(parameters, f"found by MinHash or nearer, {confirmed}")


def _joined(parameters: Parameters, decided: str) -> str:
    names = "names decide" if parameters.compare_names else "names not compared"
    if not parameters.ignore_boilerplate:
        names += ", boilerplate counts"
    words = f"at least {many(parameters.min_words, 'word')}"
    return f"{parameters.fingerprint_features}, {words}, {decided}, {names}"


def _sweep_table(
    sweep: Sweep, holds: Parameters, evidence: DistanceEvidence | None
) -> Iterator[str]:
    layers = [layer for layer in _SHOWN if any(line.layers.get(layer) for line in sweep.lines)]
    scored = _scored(sweep, evidence)
    headings = [
        _BOUNDS[sweep.bound],
        "kept",
        "dropped",
        *(_SHOWN[layer] for layer in layers),
        "now kept",
        "now dropped",
        *(("precision", "recall") if scored else ()),
    ]
    cells = (_cells(sweep, line, layers, scored) for line in sweep.lines)
    marks = ["", *("  holds" if _is_held(sweep, line, holds) else "" for line in sweep.lines)]
    for row, mark in zip(table_lines(headings, cells, left=0), marks, strict=True):
        yield row.rstrip() + mark


def _scored(sweep: Sweep, evidence: DistanceEvidence | None) -> dict[float, EvidenceLine]:
    """Return the evidence by the values of the bound; empty: there is none."""
    if evidence is None:
        return {}
    is_distance = sweep.bound == MAX_DISTANCE
    lines = evidence.by_distance if is_distance else evidence.by_similarity
    return {line.bound: line for line in lines}


def _is_held(sweep: Sweep, line: SweepLine, holds: Parameters) -> bool:
    return sweep.bound != NO_BOUND and line.choice.parameters == holds


def _cells(
    sweep: Sweep, line: SweepLine, layers: Sequence[str], scored: Mapping[float, EvidenceLine]
) -> list[str | int]:
    choice = line.choice
    value = choice.method
    scores: list[str] = []
    if sweep.bound != NO_BOUND:
        bound = sweep.value_of(choice.parameters)
        value = f"{bound:g}"
        at = scored.get(bound)
        known = (None, None) if at is None else (at.precision, at.recall)
        scores = ["-" if one is None else f"{one.share:.3f}" for one in known] if scored else []
    return [
        value,
        line.kept,
        line.dropped,
        *(line.layers.get(layer, 0) for layer in layers),
        f"{line.now_kept:+,}" if line.now_kept else "0",
        f"{line.now_dropped:+,}" if line.now_dropped else "0",
        *scores,
    ]


def _footnotes(sweep: Sweep, evidence: DistanceEvidence | None) -> Iterator[str]:
    yield "now kept: pages that the crawl dropped and this row keeps; now dropped: the reverse"
    if evidence is None:
        return
    if sweep.bound == MIN_SIMILARITY:
        yield from _of_similarity(evidence)
        return
    if sweep.lines[0].choice.parameters.verify:
        yield "candidates found by MinHash are confirmed by similarity at every distance"
    basis = (
        many(evidence.pairs, "labelled pair")
        if evidence.basis == LABELS
        else f"{many(evidence.pairs, 'pair')} within 8 bits, duplicates where Jaccard says so"
    )
    yield f"precision, recall: of pairs by distance alone, against {basis}"
    yield _suggestion(MAX_DISTANCE, evidence.suggestion, evidence.reason)


def _of_similarity(evidence: DistanceEvidence) -> Iterator[str]:
    if evidence.basis != LABELS:
        yield "precision, recall: unknown, since no pair is labelled; crawl-once lab does that"
        return
    yield (
        f"precision, recall: of {many(evidence.pairs, 'labelled pair')} within 8 bits; "
        "crawl-once lab adds more"
    )
    yield _suggestion(MIN_SIMILARITY, evidence.similarity, evidence.similarity_reason)


def _suggestion(name: str, bound: float | None, reason: str) -> str:
    return f"{name}: {reason}" if bound is None else f"suggested {name}: {reason}"
