"""What pages say outside boilerplate decides in the lab as it does in a crawl."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.lab.judgement import Choice
from crawler.lab.prepared import MIN_SIMILARITY
from crawler.pages.live_parameters import tune
from neardup import Parameters
from neardup.boilerplate import blocks
from tests.crawler.lab.pages import Book, Made
from tests.crawler.lab.test_session import TINY, oracle, told
from tests.crawler.maintenance.rejudge.captured import capture, judge_again
from tests.crawler.maintenance.rejudge.tried import changes, stored, tried
from tests.crawler.pages.test_boilerplate import SECTIONS, section, sections
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATE = [prose(number, 25) for number in range(3)]
TITLES = ["", "", "Red shoe | Shop", "Blue shoe | Shop"]


def page(source: random.Random) -> str:
    """A text of two lines of the template at least, some of them edited, and lines of its own."""
    lines = source.sample(TEMPLATE, source.randrange(2, 4))
    if source.random() < 0.3:
        lines[0] = changed(lines[0], source.randrange(10**6), 1)
    own = [prose(source.randrange(5), source.randrange(2, 9)) for _ in range(source.randrange(3))]
    return "\n".join([*sorted(lines), *own])


@st.composite
def books(draw: st.DrawFn) -> Book:
    source = random.Random(draw(st.integers(0, 2**32)))
    made = [
        Made(page(source), title=source.choice(TITLES)) for _ in range(draw(st.integers(1, 30)))
    ]
    known = frozenset(block.hash for line in TEMPLATE for block in blocks(line + "\n"))
    return Book(made, TINY, boilerplate=source.choice([known, known, frozenset(), None]))


@st.composite
def bounds(draw: st.DrawFn) -> Parameters:
    return Parameters(
        min_words=12,
        max_distance=draw(st.integers(0, 8)),
        min_similarity=draw(st.sampled_from([MIN_SIMILARITY, 0.57, 0.7, 0.8, 1.0])),
        compare_names=draw(st.booleans()),
        ignore_boilerplate=draw(st.sampled_from([True, True, False])),
        verify_shingle_size=draw(st.sampled_from([5, 5, 2])),
        verify=draw(st.sampled_from([True, True, False])),
    )


class TestRestsProperties:
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(books(), st.lists(bounds(), min_size=1, max_size=3), st.integers(0, 30))
    def test_judges_as_a_deduplicator_that_knows_the_boilerplate(
        self, book: Book, tried: list[Parameters], first: int
    ) -> None:
        session, pages = book.empty_session(), book.pages()
        session.extend(pages[:first])
        session.prepare(Choice(tried[0]))
        session.extend(pages[first:])
        for parameters in tried:
            assert told(session.judge(Choice(parameters))) == oracle(book, parameters)


def test_boilerplate_is_read_again_when_there_are_many_more_pages() -> None:
    book = Book([Made(f"{section(number).text}") for number in range(12)], Parameters())
    session, pages = book.empty_session(), book.pages()
    session.extend(pages[:4])
    assert session.judge(Choice()).dropped_count == 3
    first = book.made[0].text
    book.boilerplate = frozenset(block.hash for block in blocks(first[: first.index("Section")]))
    session.extend(pages[4:])
    assert session.judge(Choice()).dropped_count == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_lab_says_what_judging_again_does_with_boilerplate(tmp_path: Path, seed: int) -> None:
    copies = [(f"/act/{number}?print=1", section(number, "Printed.")) for number in (3, 7, 12)]
    pages = sections() + copies
    random.Random(seed).shuffle(pages)
    capture(tmp_path, pages, Parameters())
    # What was judged before the tenth page knew no boilerplate.
    expected, now = tried(tmp_path, Parameters()), changes(tmp_path, Parameters())
    assert now[0] > 0
    judge_again(tmp_path)
    assert stored(tmp_path) == expected
    assert [verdict for _, verdict, _ in expected].count("near_duplicate") == len(copies)


def test_without_the_switch_sections_are_copies(tmp_path: Path) -> None:
    capture(tmp_path, sections(), Parameters())
    parameters = tune(tmp_path, {"ignore_boilerplate": False}, "tune").parameters
    expected = tried(tmp_path, parameters)
    assert [verdict for _, verdict, _ in expected].count("near_duplicate") == SECTIONS - 1
    judge_again(tmp_path)
    assert stored(tmp_path) == expected
    kept = tried(tmp_path, replace(parameters, ignore_boilerplate=True))
    assert {verdict for _, verdict, _ in kept} == {"new", "same_template"}
