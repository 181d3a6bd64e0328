"""Why two texts are one page or two is what a deduplicator would say of them."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.lab.comparison import compare
from crawler.lab.part_lists import pair_reasons
from crawler.lab.words import part_sentence, rest_sentence
from neardup import Deduplicator, Parameters, analyse
from neardup.boilerplate import blocks
from neardup.names import Name
from tests.crawler.lab.pages import Book, Made
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from neardup.verdict import Verdict

NAMES = Name("Red shoe"), Name("Blue shoe")
LINES = [prose(number, 30) for number in range(8)]
KNOWN = frozenset(block.hash for line in LINES[:4] for block in blocks(line + "\n"))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Some lines in order, of which boilerplate knows the first four, and an edit or two."""
    source = random.Random(draw(st.integers(0, 2**32)))
    chosen = sorted(source.sample(range(8), source.randrange(2, 9)))
    lines = [LINES[number] for number in chosen]
    if source.random() < 0.3:
        lines[-1] = changed(lines[-1], source.randrange(100), 2)
    return "\n".join(lines)


class TestReasonsProperties:
    @settings(deadline=None)
    @given(
        texts(),
        texts(),
        st.sampled_from(NAMES),
        st.sampled_from([0.5, 0.8]),
        st.tuples(st.booleans(), st.booleans()),
        st.sampled_from([None, KNOWN]),
    )
    def test_the_verdict_and_the_part_are_those_of_a_deduplicator(
        self,
        first: str,
        second: str,
        name: Name,
        least: float,
        switches: tuple[bool, bool],
        known: frozenset[int] | None,
    ) -> None:
        parameters = Parameters(
            min_similarity=least,
            min_words=20,
            drop_contained=switches[0],
            ignore_boilerplate=switches[1],
        )
        book = Book([Made(first), Made(second)], boilerplate=known)
        found = judged(book, (NAMES[0], name), parameters)
        told = compare(first, second, parameters, names=(NAMES[0], name), blocks=(known, known))
        assert told.verdict == found.kind
        part = told.reasons.part
        if found.kind == "contained" or found.part_of is not None:
            assert part == (1, found.containment)
        elif found.parts:
            assert part == (0, found.parts[0].containment)
        elif not found.is_duplicate:
            assert part is None


def judged(book: Book, names: tuple[Name, Name], parameters: Parameters) -> Verdict:
    with Deduplicator(parameters, boilerplate=book) as deduplicator:
        for place, (made, name) in enumerate(zip(book.made, names, strict=True)):
            document = replace(analyse(made.text, parameters, name), group=1)
            verdict = deduplicator.judge_document(place, document)
    return verdict


def test_a_half_is_a_part_from_either_side() -> None:
    whole, half = "\n".join(LINES), "\n".join(LINES[:4])
    for pair, place in (((whole, half), 1), ((half, whole), 0)):
        found = pair_reasons(pair, NAMES, (None, None), Parameters())
        assert found.part == (place, 1.0)
        assert found.difference == "title"
    assert part_sentence(found.part, ("the left page", "the right page")) == (
        "The left page is a part of the right page: 1.000 of its shingles stand there."
    )
    assert part_sentence(None, ("A", "B")) == "Neither is a part of the other one."


def test_boilerplate_is_marked_and_left_aside() -> None:
    pair = "\n".join([*LINES[:4], LINES[5]]), "\n".join([*LINES[:4], LINES[6]])
    found = pair_reasons(pair, (NAMES[0], NAMES[0]), (KNOWN, KNOWN), Parameters())
    assert found.rest_share == 0
    for text, own, spans in zip(pair, (LINES[5], LINES[6]), found.spans, strict=True):
        assert spans == [(0, text.index(own))]
    assert rest_sentence(0.0, 0.8).startswith(
        "Without what the site repeats they say other things: 0.000"
    )
    assert rest_sentence(1.0, 0.8).startswith(
        "Without what the site repeats they say the same: 1.000"
    )


@pytest.mark.parametrize("known", [None, frozenset()])
def test_nothing_is_marked_where_nothing_is_boilerplate(known: frozenset[int] | None) -> None:
    pair = LINES[0] * 2, LINES[1] * 2
    found = pair_reasons(pair, NAMES, (known, None), Parameters())
    assert found.spans == ([], [])
    assert (found.rest_share is None) == (known is None)
