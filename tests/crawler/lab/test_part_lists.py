"""The lab finds the parts that a deduplicator finds, and drops those that it drops."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crawler.lab.judgement import Choice
from crawler.pages.live_parameters import tune
from neardup import Deduplicator, Parameters
from neardup.boilerplate import blocks
from neardup.evaluation.near_arrays import LAYERS
from neardup.verification import containment
from tests.crawler.lab.pages import Book, Made
from tests.crawler.maintenance.rejudge.captured import Said, capture, judge_again
from tests.crawler.maintenance.rejudge.tried import changes, stored, tried
from tests.crawler.pages.test_boilerplate import TEMPLATE, sections
from tests.neardup.texts import prose

if TYPE_CHECKING:
    from pathlib import Path

RUNNING = Parameters(min_words=40)
LINES = [prose(number, 40) for number in range(12)]
KNOWN = frozenset(block.hash for line in LINES[:3] for block in blocks(line + "\n"))
TITLES = ["", "", "Red shoe | Shop", "Blue shoe | Shop"]


@st.composite
def books(draw: st.DrawFn) -> Book:
    """Pages of some lines in a row each, of which three are boilerplate or none is."""
    source = random.Random(draw(st.integers(0, 2**32)))
    made = []
    for _ in range(draw(st.integers(1, 12))):
        start = source.randrange(len(LINES) - 1)
        text = "\n".join(LINES[start : start + source.randrange(1, 8)])
        made.append(Made(text, title=source.choice(TITLES)))
    return Book(made, RUNNING, boilerplate=source.choice([KNOWN, None]))


def parts_of(book: Book, parameters: Parameters) -> tuple[list[str], dict[int, tuple[int, float]]]:
    """What a deduplicator says of each page, and of which page each is a part."""
    kinds, parts = [], {}
    with Deduplicator(parameters, boilerplate=book) as deduplicator:
        for place, made in enumerate(book.made):
            document = book.document(made, parameters)
            verdict = deduplicator.judge_document(place, document)
            kinds.append(verdict.kind if verdict.kind == "contained" else str(verdict.duplicate_of))
            container = verdict.part_of if verdict.duplicate_of is None else verdict.duplicate_of
            if verdict.containment is not None:
                assert container is not None
                parts[place] = container, verdict.containment
            for part in verdict.parts:
                parts.setdefault(part.id, (place, part.containment))
    return kinds, parts


def book_of_two_names() -> Book:
    whole = "\n".join(LINES[6:12])
    text = "\n".join(LINES[7:12])
    made = [
        Made(whole, title="Blue shoe | Shop"),
        Made(text),
        Made(text, title="Red shoe | Shop"),
        Made(LINES[10]),
    ]
    return Book(made, RUNNING)


def book_of_a_kept_copy() -> Book:
    """A dropped part comes again under another name, and holds a page that came between."""
    text = "\n".join(LINES[2:6])
    made = [
        Made("\n".join(LINES[:6]), title="Blue shoe | Shop"),
        Made(text),
        Made("\n".join(LINES[4:6]), title="Red shoe | Shop"),
        Made(text, title="Red shoe | Shop"),
    ]
    return Book(made, RUNNING)


class TestPartsProperties:
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    # The first page of a text repeats another page, and the second has a name of its own.
    @example(book_of_two_names(), True, True, True, 3)
    @example(book_of_two_names(), True, True, False, 0)
    @example(book_of_a_kept_copy(), True, True, False, 0)
    @given(books(), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 12))
    def test_parts_are_those_of_a_deduplicator(
        self, book: Book, drops: bool, names: bool, aside: bool, first: int
    ) -> None:
        book.running = replace(RUNNING, compare_names=names, ignore_boilerplate=aside)
        parameters = replace(book.running, drop_contained=drops)
        session, pages, choice = book.empty_session(), book.pages(), Choice(parameters)
        session.extend(pages[:first])
        session.prepare(choice)
        session.extend(pages[first:])
        session.prepare(choice)
        session.look_for_parts(choice, lambda _share, _words: None)
        found = session.judge(choice)
        kinds, parts = parts_of(book, parameters)
        assert found.part_of is not None
        assert found.containment is not None
        told = {}
        for place in np.flatnonzero(~np.isnan(found.containment)).tolist():
            container = int(max(found.part_of[place], found.original[place]))
            told[place] = container, float(found.containment[place])
        assert set(told) == set(parts)
        for place, (container, share) in parts.items():
            assert told[place][1] == float(np.float32(share))
            texts = [made.text for made in book.made]
            whole = texts[told[place][0]]
            if whole != texts[container]:
                # A copy of a dropped part is looked for again, among more pages than the part was,
                # and is one of the pages that may hold others.
                assert texts[place] in texts[:place] or whole in texts[: told[place][0]]
                size = RUNNING.verify_shingle_size
                assert containment(texts[place], whole, shingle_size=size) >= share
        layers = [LAYERS[layer] for layer in found.layer]
        assert [kind == "contained" for kind in kinds] == [one == "contained" for one in layers]


def book_of_halves() -> Book:
    whole = LINES[:6]
    return Book([Made("\n".join(whole)), Made("\n".join(whole[2:5])), Made(LINES[8])], RUNNING)


def test_parts_are_dropped_on_wish() -> None:
    session = book_of_halves().session()
    assert session.judge(Choice(RUNNING)).dropped_count == 0
    assert session.judge(Choice(RUNNING)).part_of is None
    found = session.judge(Choice(replace(RUNNING, drop_contained=True)))
    assert [LAYERS[layer] for layer in found.layer] == ["new", "contained", "new"]
    assert found.original.tolist() == [-1, 0, -1]
    assert found.counts()["contained"] == 1
    # What was found is told of the choices that keep parts, too.
    kept = session.judge(Choice(RUNNING))
    assert kept.parts is not None
    assert kept.parts.tolist() == [1]


def test_pages_of_one_text_are_parts_alike() -> None:
    book = book_of_halves()
    part = book.made[1].text
    book.made = [book.made[0], Made(part, title="Red shoe"), Made(part), Made(part)]
    book.made[0].title = "Blue shoe"
    found = book.session().judge(Choice(replace(RUNNING, drop_contained=True)))
    # Of another name than the whole, the first one is kept, and the others repeat it.
    assert [LAYERS[layer] for layer in found.layer] == ["new", "new", "text", "text"]


def test_the_text_of_a_part_that_was_dropped_is_dropped_again() -> None:
    book = book_of_halves()
    book.made = [*book.made, book.made[1]]
    found = book.session().judge(Choice(replace(RUNNING, drop_contained=True)))
    assert [LAYERS[layer] for layer in found.layer] == ["new", "contained", "new", "contained"]


def test_what_is_not_stored_is_no_part() -> None:
    book = book_of_halves()
    book.lost = {book.pages()[0].id}
    found = book.session().judge(Choice(replace(RUNNING, drop_contained=True)))
    assert found.dropped_count == 0


def test_the_lab_drops_what_judging_again_drops(tmp_path: Path) -> None:
    whole = "\n".join(LINES[:8])
    pages = [
        *sections(),
        ("/book", Said(whole)),
        ("/book/print", Said("\n".join(LINES[2:5]))),
        # What it says besides the template stands nowhere else.
        ("/imprint", Said(f"{TEMPLATE}\nThe imprint of the office that publishes all acts here.")),
        ("/book/cut", Said(whole[: len(whole) // 2])),
    ]
    capture(tmp_path, pages, Parameters())
    judge_again(tmp_path)
    parameters = tune(tmp_path, {"drop_contained": True}, "tune").parameters
    expected = tried(tmp_path, parameters)
    assert [verdict for _, verdict, _ in expected].count("contained") == 2
    judge_again(tmp_path)
    assert stored(tmp_path) == expected
    assert changes(tmp_path, parameters) == (0, 0)
