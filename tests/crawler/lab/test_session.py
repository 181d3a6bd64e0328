"""A session judges as a deduplicator that is fed the same texts in the same order."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.lab.app.clusters_tab import largest_clusters, why_member
from crawler.lab.judgement import Choice
from crawler.lab.near_pairs import ListFilter
from crawler.lab.page_columns import PageColumns
from crawler.lab.session import Session
from neardup import Deduplicator, Features, Parameters, hamming, jaccard, simhash
from neardup.document import analyse
from neardup.errors import ParameterError
from neardup.evaluation.near_arrays import KEEPING, LAYERS, MAX_COUNT
from neardup.fingerprints.digest import payload_digest
from neardup.plurals import many
from tests.crawler.lab.pages import Book, Made
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.lab.judgement import Judgement

TINY = Parameters(min_words=12)


def oracle(book: Book, parameters: Parameters) -> list[tuple[str, int, int]]:
    """What a deduplicator says of each page: layer, the page that it names, distance."""
    said = []
    with Deduplicator(parameters, boilerplate=book) as deduplicator:
        for place, made in enumerate(book.made):
            document = book.document(made, parameters)
            verdict = deduplicator.judge_document(place, document)
            if verdict.duplicate_of is not None:
                said.append((verdict.tier or "", verdict.duplicate_of, verdict.distance or 0))
            elif made.is_changed or verdict.resembles is None:
                said.append(("changed" if made.is_changed else verdict.kind, -1, -1))
            else:
                said.append((verdict.kind, verdict.resembles, verdict.distance or 0))
    return said


def told(judgement: Judgement) -> list[tuple[str, int, int]]:
    layers = [LAYERS[layer] for layer in judgement.layer]
    named = np.maximum(judgement.original, judgement.resembles).tolist()
    rows = zip(layers, named, judgement.distance.tolist(), strict=True)
    return list(rows)


@st.composite
def books(draw: st.DrawFn) -> Book:
    """Few texts, much changed: equal, shuffled (the same fingerprint), words replaced, short."""
    source = random.Random(draw(st.integers(0, 2**32)))
    texts = [prose(source.randrange(10**6), source.randrange(8, 40)) for _ in range(4)]
    made = []
    for _ in range(draw(st.integers(1, 45))):
        kind = source.random()
        text = source.choice(texts)
        if kind < 0.3:
            words = text.split()
            source.shuffle(words)
            text = " ".join(words)
        elif kind < 0.75:
            count = min(source.randrange(3), len(text.split()))
            text = changed(text, source.randrange(10**6), count)
        elif kind < 0.8:
            text = source.choice(["", "...", "few words", prose(source.randrange(10**6), 30)])
        texts.append(text)
        payload = source.choice([None, None, source.randrange(30)]) if text else None
        is_changed = source.random() < 0.1
        title = source.choice(["", "Red shoe | Shop", "Blue shoe | Shop"])
        made.append(Made(text, payload, source.random() < 0.9, is_changed, title))
    return Book(made, TINY)


bounds = st.builds(
    lambda near, names, words, verify, least, features, size: Parameters(
        features=features,
        max_distance=near,
        compare_names=names,
        min_words=words,
        verify=verify,
        min_similarity=least,
        verify_shingle_size=size,
    ),
    st.integers(0, 8),
    st.booleans(),
    st.sampled_from([1, 5, 11, 12, 20, 30]),
    st.booleans(),
    st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.8, 1.0]),
    st.sampled_from([None, Features("character", 4, "count"), Features("word", 2, "set")]),
    st.sampled_from([5, 5, 2]),
)


class TestSessionProperties:
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(books(), st.lists(bounds, min_size=1, max_size=3), st.integers(0, 45))
    def test_judges_as_a_deduplicator(
        self, book: Book, tried: list[Parameters], first: int
    ) -> None:
        session, pages = book.empty_session(), book.pages()
        session.extend(pages[:first])
        session.prepare(Choice(tried[0]))
        session.extend(pages[first:])
        for parameters in [*tried, book.running, tried[0]]:
            judgement = session.judge(Choice(parameters))
            assert told(judgement) == oracle(book, parameters)


def family(seed: int, count: int, edits: int) -> list[str]:
    """Texts of 200 words that differ from one in so many of them."""
    text = prose(seed, 200)
    return [text, *(changed(text, 1000 * seed + number, edits) for number in range(1, count))]


def book_of(*texts: str) -> Book:
    return Book([Made(text) for text in texts])


MIXED = book_of(
    *family(1, 12, 1), *family(2, 12, 4), *family(3, 12, 9), prose(4, 200), prose(4, 200)
)
FEATURES = Parameters().fingerprint_features


def test_a_line_of_a_sweep_is_what_its_choice_does() -> None:
    session = MIXED.session()
    running = session.judge(Choice())
    for verify in (True, False):
        choice = Choice(Parameters(features=FEATURES, verify=verify, min_similarity=0.75))
        lines = session.sweep(choice.with_parameters(max_distance=bits) for bits in range(9))
        assert [line.choice.parameters.max_distance for line in lines] == list(range(9))
        for line in lines:
            judgement = session.judge(line.choice)
            assert (line.kept, line.dropped) == (judgement.kept_count, judgement.dropped_count)
            assert line.layers == judgement.counts()
            assert sum(line.layers.values()) == len(session)
            changes = judgement.changes_from(running)
            assert (line.now_kept, line.now_dropped) == tuple(map(len, changes))
        drops = [line.dropped for line in lines]
        assert drops == sorted(drops)
        # What similarity confirms is found at every distance.
        assert (drops[0] < drops[8]) != verify


def test_the_less_similarity_is_asked_for_the_more_is_dropped() -> None:
    session, bounds = MIXED.session(), [1.0, 0.9, 0.8, 0.65, 0.5]
    lines = session.sweep(Choice().with_parameters(min_similarity=least) for least in bounds)
    drops = [line.dropped for line in lines]
    assert drops == sorted(drops)
    assert drops[0] < drops[-1]
    judged = [oracle(MIXED, Parameters(min_similarity=least)) for least in bounds]
    assert drops == [sum(row[0] not in KEEPING for row in rows) for rows in judged]


def test_the_histogram_holds_the_nearest_of_each_distinct_text() -> None:
    texts = [made.text for made in MIXED.made[:-1]]
    prints = np.array([analyse(text).fingerprint for text in texts], np.uint64)
    distances = np.bitwise_count(prints[:, None] ^ prints[None, :]).astype(int)
    np.fill_diagonal(distances, 99)
    histogram = MIXED.session().histogram(Choice())
    assert histogram.counts.tolist() == np.bincount(distances.min(axis=1), minlength=65).tolist()
    assert (histogram.asked, histogram.is_sampled) == (len(texts), False)


def test_a_scatter_shows_pairs_with_their_similarity() -> None:
    session = MIXED.session()
    shown, count = session.scatter(Choice())
    assert len(shown.distance) == count
    for row in range(count):
        one, other = (MIXED.made[int(place[row])].text for place in (shown.earlier, shown.later))
        assert shown.distance[row] == hamming(simhash(one, FEATURES), simhash(other, FEATURES))
        assert shown.similarity[row] == pytest.approx(jaccard(one, other))
    few = session.scatter(Choice(), most=20)
    assert (len(few.shown.distance), few.pairs) == (20, count)
    # The scarce distances are all there, the others have equal shares.
    assert set(few.shown.distance.tolist()) == set(shown.distance.tolist())


def test_pairs_are_searched_by_their_pages() -> None:
    text = prose(1, 200)
    session = book_of(*(changed(text, number, number) for number in range(1, 6))).session()
    every = session.pairs(Choice(), range(9))
    wanted = session.pages[2].url
    found = session.pairs(Choice(), range(9), search=ListFilter.of(wanted.upper()))
    assert found == [pair for pair in every if 2 in (pair.first, pair.second)]
    assert 0 < len(found) < len(every)
    assert session.pairs(Choice(), range(9), 1, search=ListFilter.of(wanted)) == found[:1]
    assert session.pairs(Choice(), range(9), search=ListFilter.of("nowhere")) == []


def test_clusters_say_why_each_page_is_in_them() -> None:
    text = prose(1, 200)
    book = book_of(text, changed(text, 1, 1), text, prose(2, 200), prose(2, 200), prose(3, 200))
    book.made[4].payload = book.made[3].payload = 7
    session = book.session()
    judgement = session.judge(Choice())
    first, second = largest_clusters(judgement, 50)
    assert (first.representative, first.size) == (0, 3)
    assert first.members == (1, 2)
    near, equal = (why_member(judgement, place) for place in first.members)
    similarity = jaccard(text, book.made[1].text)
    assert near == f"{many(int(judgement.distance[1]), 'bit')}, similarity {similarity:.2f}"
    assert equal == "the same words"
    assert (second.representative, second.size) == (3, 2)
    assert why_member(judgement, second.members[0]) == "the same bytes"
    assert judgement.cluster_sizes().tolist() == [3, 2]
    assert judgement.saved_bytes == sum(len(book.made[place].text) for place in (1, 2, 4))
    assert largest_clusters(judgement, 1) == [first]
    for place, found in ((2, [first]), (0, [first]), (3, [second]), (5, [])):
        searched = np.arange(len(judgement)) == place
        assert largest_clusters(judgement, 50, searched=searched) == found


def test_fewer_words_and_other_features_are_computed_from_texts() -> None:
    texts = family(1, 4, 1)
    for words in (30, 8):
        short = prose(words, words)
        texts += [short, *(changed(short, number) for number in range(5))]
    book = book_of(*texts)
    session = book.session()
    assert session.judge(Choice()).counts()["too_short"] == 12
    lower, lowest = Choice(Parameters(min_words=28)), Choice(Parameters(min_words=4))
    assert session.is_ready(lower)
    assert not session.is_ready(lowest)
    told_of: list[tuple[float, str]] = []
    session.prepare(lowest, lambda share, words: told_of.append((share, words)))
    assert session.is_ready(lowest)
    assert told_of[-1] == (1.0, "ready")
    assert all(0 <= share <= 1 for share, _ in told_of)
    for parameters in (
        lower.parameters,
        lowest.parameters,
        Parameters(features=Features("character", 5, "log_count")),
    ):
        assert told(session.judge(Choice(parameters))) == oracle(book, parameters)


def test_a_preparation_that_is_stopped_goes_on_later() -> None:
    session = MIXED.session()

    def stop(_share: float, _words: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        session.prepare(Choice(), stop)
    assert not session.is_ready(Choice())
    assert told(session.judge(Choice())) == oracle(MIXED, Parameters())


def test_a_text_that_cannot_be_read_leaves_nothing_half_done() -> None:
    book, fails = book_of(*family(1, 5, 1)), [True]

    def texts(ids: Sequence[int]) -> Iterator[str | None]:
        if fails:
            fails.clear()
            raise OSError("the disk is gone")
        return book.texts(ids)

    session = Session(texts, Parameters(), lambda: lambda page: None)
    session.extend(book.pages())
    with pytest.raises(OSError, match="gone"):
        session.prepare(Choice())
    assert told(session.judge(Choice())) == oracle(book, Parameters())


def test_what_is_not_held_rests_on_what_the_crawl_stored() -> None:
    text = prose(1, 200)
    book = book_of(text, changed(text, 1, 1), changed(text, 2, 1), prose(5, 200))
    book.lost = {6, 9}
    session, pages = book.empty_session(), book.pages()
    pages[1] = replace(pages[1], verdict="near_duplicate", duplicate_of=pages[0].id, similarity=0.9)
    session.extend(pages)
    judgement = session.judge(Choice())
    assert judgement.kept.tolist() == [True, False, True, True]
    assert judgement.similarity[1] == pytest.approx(0.9)
    assert session.judge(Choice(Parameters(min_similarity=0.95))).kept.all()
    unknown = [pair for pair in session.pairs(Choice(), range(9)) if pair.similarity is None]
    assert "not held" in unknown[0].why


def test_what_repeats_the_page_with_the_id_0_is_known_to() -> None:
    first, second = book_of(*family(1, 2, 1)).pages()
    columns = PageColumns()
    columns.extend([replace(first, id=0), replace(second, id=1, duplicate_of=0)])
    assert columns.original.values.tolist() == [-1, 0]


def test_no_fingerprint_can_be_made_of_a_text_that_is_not_held() -> None:
    book = book_of(*family(1, 3, 1))
    book.lost = {6}
    judgement = book.session().judge(Choice(Parameters(features=Features("word", 2))))
    assert judgement.kept.tolist() == [True, True, False]


def test_exact_drops_what_is_equal_alone() -> None:
    judgement = MIXED.session().judge(Choice(method="exact"))
    assert np.flatnonzero(~judgement.kept).tolist() == [len(MIXED.made) - 1]
    assert judgement.counts()["text"] == 1


def test_a_fingerprint_that_thousands_share_takes_bounded_memory() -> None:
    words = prose(1, 200).split()
    source, made = random.Random(1), []
    for _ in range(5_000):
        place, swapped = source.randrange(len(words) - 1), list(words)
        swapped[place], swapped[place + 1] = swapped[place + 1], swapped[place]
        made.append(Made(" ".join(swapped)))
    session = Book(made).session()
    judgement = session.judge(Choice())
    assert judgement.kept_count == 1
    assert session.scatter(Choice()).pairs <= MAX_COUNT * len(made)


def test_empty_pages_are_copies_only_by_their_bytes() -> None:
    book = Book([Made("", 7), Made("", 7), Made(""), Made("")])
    session, pages = book.empty_session(), book.pages()
    nothing = payload_digest(b"")
    pages[2:] = [replace(page, payload_digest=nothing, body_bytes=0) for page in pages[2:]]
    session.extend(pages)
    assert session.judge(Choice()).kept.tolist() == [True, False, True, True]


def test_an_empty_session_answers() -> None:
    session = Book([]).session()
    judgement = session.judge(Choice())
    assert (len(judgement), judgement.dropped_count, judgement.saved_bytes) == (0, 0, 0)
    assert session.histogram(Choice()).asked == 0
    assert session.scatter(Choice()).pairs == 0
    assert session.pairs(Choice(), range(9)) == []
    assert largest_clusters(judgement, 50) == []
    assert session.sweep([Choice()])[0].kept == 0
    assert session.evidence(Choice()).suggestion is None


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(ParameterError, match="simhash, exact, got 'magic'"):
        Choice(method="magic")
