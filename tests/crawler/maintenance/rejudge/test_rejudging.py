"""All pages judged again: as if the crawl had had those parameters from its beginning."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.pages.live_parameters import tune
from crawler.pages.stored_texts import unpack
from neardup import Deduplicator, Parameters, Verdict
from neardup.fingerprints.digest import payload_digest
from tests.crawler.maintenance.rejudge.captured import Row, Said, capture, dump, judge_again, rows
from tests.crawler.maintenance.rejudge.texts import LONG, NEAR, SHORT
from tests.crawler.maintenance.verify.crawled import check, check_and_repair, execute
from tests.crawler.maintenance.verify.crawled import rows as selected
from tests.sites.prose import prose

ORIGIN = "http://example.com"


def edited(seed: str, words: int, changes: int) -> str:
    """A text with so many of its words replaced."""
    said = prose(seed, words).split()
    step = max(1, words // (changes + 1))
    for number in range(changes):
        said[(number + 1) * step % words] = f"changed{number}"
    return " ".join(said)


@st.composite
def pages(draw: st.DrawFn) -> Said:
    """Few texts, more or less edited, some under several addresses or in other surroundings."""
    around, is_main = (
        draw(st.sampled_from(["", "menu"])),
        draw(st.sampled_from([True] * 5 + [False])),
    )
    words = draw(st.sampled_from([200] * 4 + [30] * 4 + [0]))
    if not words:
        return Said("", around, is_main=False)
    text = edited(draw(st.sampled_from("ab")), words, draw(st.integers(0, 9)))
    captions = draw(st.sampled_from([""] * 3 + [edited("c", 150, 2), edited("c", 150, 60)]))
    whole = f"{text} {captions}" if captions and is_main else ""
    return Said(text, around, is_main, whole)


@st.composite
def chosen(draw: st.DrawFn) -> Parameters:
    return Parameters(
        features=Parameters().fingerprint_features,
        max_distance=draw(st.integers(0, 8)),
        min_words=draw(st.sampled_from([1, 50, 100])),
        verify=draw(st.booleans()),
        min_similarity=draw(st.sampled_from([0.5, 0.8, 1.0])),
    )


def tune_to(folder: Path, parameters: Parameters) -> int:
    names = ("max_distance", "min_words", "verify", "min_similarity")
    return tune(folder, {name: getattr(parameters, name) for name in names}, "tune").id


def as_judged_afresh(said: list[Said], parameters: Parameters) -> list[tuple[object, ...]]:
    """What a deduplicator with these parameters says of the same texts, in the same order.

    It keeps no empty text; the store of a crawl does, and knows its bytes again.
    """
    deduplicator, empty = Deduplicator(parameters), dict[bytes, int]()
    found: list[tuple[object, ...]] = []
    for number, one in enumerate(said):
        document = one.extract.document(parameters.min_words)
        known = deduplicator.find_payload(payload_digest(one.body))
        if not one.text and one.body in empty:
            known = Verdict("exact_duplicate", empty[one.body], 0, 1.0)
        if known is None:
            empty.setdefault(one.body, number)
            known = deduplicator.judge_document(
                number, replace(document, payload=payload_digest(one.body))
            )
        original = None if known.duplicate_of is None else f"{ORIGIN}/{known.duplicate_of}"
        found.append((known.kind, original, known.distance, known.similarity))
    return found


EDITED = edited("a", 200, 1)
EXACT = Parameters(features=Parameters().fingerprint_features, max_distance=0, verify=False)


def held(found: list[Row]) -> set[str]:
    return {text for row in found for text in (row.text, row.near) if text is not None}


@settings(max_examples=40, deadline=None)
@given(st.lists(pages(), max_size=9), chosen(), chosen())
@example(
    # Words that are not the main part of what a page shows repeat no page by their fingerprint.
    said=[Said(edited("a", 200, 0)), Said(EDITED), Said(EDITED, is_main=False)],
    first=EXACT,
    second=replace(EXACT, verify=True),
)
def test_it_keeps_what_a_fresh_crawl_would_keep(
    said: list[Said], first: Parameters, second: Parameters
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "job"
        capture(folder, [(f"/{number}", one) for number, one in enumerate(said)], first)
        before = rows(folder)
        number = tune_to(folder, second)
        expected = judge_again(folder, dry_run=True)
        assert rows(folder) == before
        assert judge_again(folder) == expected
        after = rows(folder)
        assert [row[1:5] for row in after] == as_judged_afresh(said, second)
        assert all((row.text is not None) == (row.original is None) for row in after)
        assert {row.parameters for row in after} <= {number}
        assert held(before) <= held(after)
        assert expected.now_kept - expected.now_dropped == expected.kept - expected.kept_before
        assert check(folder).findings == ()
        written = dump(folder)
        assert judge_again(folder).changes == 0
        assert dump(folder) == written


PATHS = st.sampled_from(["/a", "/b", "/c", "/d"])
VISITS = st.lists(st.lists(st.tuples(PATHS, pages()), max_size=5), max_size=4)


@settings(max_examples=40, deadline=None)
@given(VISITS, st.lists(chosen(), min_size=4, max_size=4), st.booleans())
def test_after_any_visits_it_loses_no_text_and_leaves_a_clean_directory(
    visits: list[list[tuple[str, Said]]], parameters: list[Parameters], keeps: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "job"
        said: dict[str, Said] = {}
        first = Parameters(features=Parameters().fingerprint_features)
        capture(folder, [], first)
        for visit, tuned in zip(visits, parameters, strict=False):
            capture(folder, visit, first, keep_near_texts=keeps)
            said.update(visit)
            tune_to(folder, tuned)
            judge_again(folder)
            assert check(folder).problems == ()
            written = dump(folder)
            assert judge_again(folder).changes == 0
            assert dump(folder) == written
            if keeps:
                assert {one.text for one in said.values()} <= every_text(folder)


def every_text(folder: Path) -> set[str]:
    """Texts of older versions too: a duplicate of today may have one."""
    sql = "SELECT text FROM pages WHERE text IS NOT NULL UNION ALL SELECT text FROM near_texts"
    return {unpack(packed) for (packed,) in selected(folder, sql) if isinstance(packed, bytes)}


def verdicts(folder: Path) -> dict[str, tuple[str, str | None]]:
    return {
        row.url.removeprefix(ORIGIN): (
            row.verdict,
            None if row.original is None else row.original.removeprefix(ORIGIN),
        )
        for row in rows(folder)
    }


def test_what_was_wrongly_dropped_is_kept_and_dropped_again(folder: Path) -> None:
    first = verdicts(folder)
    assert first["/near"] == first["/copy-of-near"] == ("near_duplicate", "/long")
    tune(folder, {"min_similarity": 1.0}, "tune")
    found = judge_again(folder)
    # Its copy repeats it now, and what it was dropped for is a part of it.
    assert (found.now_kept, found.now_dropped, found.otherwise) == (1, 0, 2)
    assert found.kept_examples == (f"{ORIGIN}/near",)
    assert verdicts(folder)["/near"] == ("new", None)
    assert verdicts(folder)["/copy-of-near"] == ("text_duplicate", "/near")
    tune(folder, {"min_similarity": 0.8}, "tune")
    found = judge_again(folder)
    assert (found.now_kept, found.now_dropped, found.otherwise) == (0, 1, 2)
    assert verdicts(folder) == first
    assert rows(folder)[1].near == NEAR


def test_copies_of_a_page_without_words_go_on_being_copies(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    capture(folder, [(f"/{number}", Said("", is_main=False)) for number in range(3)], Parameters())
    before = verdicts(folder)
    assert before["/2"] == ("exact_duplicate", "/0")
    assert judge_again(folder).changes == 0
    assert verdicts(folder) == before


def test_each_near_duplicate_holds_its_own_words(tmp_path: Path) -> None:
    folder, strict = tmp_path / "job", Parameters(min_similarity=1.0)
    said = [("/long", Said(LONG)), ("/near", Said(NEAR)), ("/copy-of-near", Said(NEAR, "menu"))]
    capture(folder, said, strict)
    assert verdicts(folder)["/copy-of-near"] == ("text_duplicate", "/near")
    tune(folder, {"min_similarity": 0.8}, "tune")
    judge_again(folder)
    assert [row.near for row in rows(folder)] == [None, NEAR, NEAR]
    capture(folder, [("/near", Said(prose("anew", 200)))], strict)
    tune(folder, {"min_similarity": 1.0}, "tune")
    assert judge_again(folder).to_fetch == 0
    assert verdicts(folder)["/copy-of-near"] == ("new", None)


def test_a_content_moves_with_its_type_and_its_source(tmp_path: Path) -> None:
    folder, strict = tmp_path / "job", Parameters(min_similarity=1.0)
    near = Said(NEAR, page_type="product"), Said(NEAR, "menu", page_type="listing")
    capture(folder, [("/long", Said(LONG)), ("/a", near[0]), ("/b", near[1])], strict)
    assert verdicts(folder)["/b"] == ("text_duplicate", "/a")
    shown = "SELECT page_type, content_source FROM pages WHERE url LIKE '%/b' AND latest = 1"
    assert selected(folder, shown) == [("listing", "said listing")]
    tune(folder, {"min_similarity": 0.8}, "tune")
    judge_again(folder)
    assert rows(folder)[2].near == NEAR
    assert selected(folder, shown) == [("product", "said product")]
    capture(folder, [("/a", Said(prose("anew", 200)))], strict)
    tune(folder, {"min_similarity": 1.0}, "tune")
    judge_again(folder)
    assert verdicts(folder)["/b"] == ("new", None)
    assert selected(folder, shown) == [("product", "said product")]


def test_a_copy_is_named_by_the_text_of_its_original(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    said = [("/a", Said(LONG, "menu")), ("/b", Said(LONG))]
    capture(folder, said, Parameters())
    # Its text is what it was; what stands around it, and so its bytes, are another.
    capture(folder, [("/b", Said(LONG, "menu"))], Parameters())
    assert verdicts(folder)["/b"] == ("text_duplicate", "/a")
    tune(folder, {"min_words": 1000}, "tune")
    judge_again(folder)
    assert verdicts(folder)["/b"] == ("exact_duplicate", "/a")
    assert selected(folder, "SELECT count(DISTINCT text_digest) FROM pages") == [(1,)]
    tune(folder, {"min_words": 50}, "tune")
    judge_again(folder)
    assert selected(folder, "SELECT count(DISTINCT text_digest) FROM pages") == [(1,)]
    assert judge_again(folder).changes == 0


def test_a_page_takes_no_part_of_what_it_shows_for_its_text(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    said = [("/main", Said(SHORT, "menu")), ("/all", Said(f"{SHORT} menu", is_main=False))]
    capture(folder, said, Parameters())
    before = verdicts(folder)
    assert before["/all"] == ("text_duplicate", "/main")
    tune(folder, {"min_words": 20}, "tune")
    judge_again(folder)
    # What it shows in all is held nowhere, but for its main part, of a page that shows the same.
    assert verdicts(folder) == before | {"/main": ("new", None)}
    assert check(folder).problems == ()


def test_a_page_that_changed_keeps_the_measures_of_its_change(folder: Path) -> None:
    capture(folder, [("/short", Said(prose("or else", 200)))], Parameters())
    assert verdicts(folder)["/short"] == ("changed", None)
    measured = rows(folder)[-1]
    tune(folder, {"min_similarity": 0.5}, "tune")
    judge_again(folder)
    assert rows(folder)[-1]._replace(parameters=1) == measured


@pytest.mark.parametrize("more", ["", " Or else."])
def test_a_changed_page_that_repeats_a_kept_one_is_dropped(tmp_path: Path, more: str) -> None:
    """As crawls left it that kept each changed page whatever it said."""
    folder = tmp_path / "job"
    capture(folder, [("/a", Said(LONG)), ("/b", Said(SHORT))], Parameters())
    apart = tmp_path / "apart"
    capture(apart, [("/b", Said(f"{LONG}{more}"))], Parameters())
    columns = "words, is_main, text_digest, visible_digest, payload_digest, fingerprint, text"
    execute(
        folder,
        f"ATTACH DATABASE '{apart}/crawl.db' AS apart",
        f"UPDATE pages SET ({columns}) = (SELECT {columns} FROM apart.pages), verdict = 'changed',"
        " last_payload_digest = (SELECT payload_digest FROM apart.pages) WHERE url LIKE '%/b'",
    )
    mended = Path(shutil.copytree(folder, tmp_path / "mended"))
    assert {finding.rule for finding in check(folder).problems} >= {
        "kept-apart" if more else "kept-once"
    }
    judge_again(folder)
    assert check_and_repair(mended).findings == ()
    for done in (folder, mended):
        assert verdicts(done)["/a"] == ("new", None)
        assert verdicts(done)["/b"][1] == "/a"
        assert judge_again(done).changes in {0, 1}  # a copy of the bytes is called that


def test_what_nobody_holds_is_queued_to_be_fetched_again(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    said = [("/long", Said(LONG)), ("/near", Said(NEAR)), ("/nearer", Said(f"{NEAR} More."))]
    capture(folder, said, Parameters(), keep_near_texts=False)
    before = verdicts(folder)
    assert judge_again(folder).changes == 0
    tune(folder, {"min_similarity": 1.0}, "tune")
    assert judge_again(folder, dry_run=True).to_fetch == 2
    found = judge_again(folder)
    assert (found.to_fetch, found.now_kept, found.can_fetch) == (2, 0, True)
    assert verdicts(folder) == before  # until they are fetched
    queued = selected(folder, "SELECT url FROM requests WHERE state = 0 ORDER BY id")
    assert queued == [(f"{ORIGIN}/near",), (f"{ORIGIN}/nearer",)]
    assert check(folder).problems == ()
    written = dump(folder)
    assert judge_again(folder).changes == 0
    assert dump(folder) == written
    tuned = Parameters(features=Parameters().fingerprint_features)
    capture(folder, said[1:], tuned)
    assert [row.verdict for row in rows(folder)] == ["new"] * 3
    assert check(folder).problems == ()


def test_of_a_spider_of_somebody_else_nothing_is_queued(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    said = [("/long", Said(LONG)), ("/near", Said(NEAR))]
    capture(folder, said, Parameters(), keep_near_texts=False, plan=None)
    tune(folder, {"min_similarity": 1.0}, "tune")
    found = judge_again(folder)
    assert (found.to_fetch, found.can_fetch) == (1, False)
    assert selected(folder, "SELECT count(*) FROM requests") == [(0,)]
    assert judge_again(folder).changes == 0
    assert check(folder).problems == ()


def test_an_original_that_is_dropped_hands_what_nobody_holds_on(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    words = LONG.split()
    texts = [LONG]
    for places in ((20, 60, 100, 140), (180,)):
        for place in places:
            words[place] = f"changed{place}"
        texts.append(" ".join(words))
    said = [(f"/{number}", Said(text)) for number, text in enumerate(texts)]
    capture(folder, said, Parameters(min_similarity=0.87), keep_near_texts=False)
    assert [row.original for row in rows(folder)] == [None, None, f"{ORIGIN}/1"]
    tune(folder, {"min_similarity": 0.5}, "tune")
    found = judge_again(folder)
    assert (found.now_dropped, found.to_fetch) == (1, 1)
    assert [row.original for row in rows(folder)] == [None, f"{ORIGIN}/0", f"{ORIGIN}/0"]
    assert check(folder).problems == ()


def test_html_stays_with_a_dropped_page_that_becomes_an_heir(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    capture(folder, [("/long", Said(LONG)), ("/near", Said(NEAR))], Parameters())
    tune(folder, {"min_similarity": 1.0}, "tune")
    judge_again(folder)
    execute(folder, "UPDATE pages SET html = text WHERE text IS NOT NULL")
    tune(folder, {"min_similarity": 0.8}, "tune")
    judge_again(folder)
    capture(folder, [("/long", Said(prose("anew", 200)))], Parameters())
    assert verdicts(folder)["/near"] == ("new", None)
    is_near = f"url = '{ORIGIN}/near' AND latest = 1"
    assert selected(folder, f"SELECT html = text FROM pages WHERE {is_near}") == [(1,)]


def test_html_of_a_page_that_is_dropped_goes_with_its_next_capture(folder: Path) -> None:
    execute(folder, "UPDATE pages SET html = text WHERE text IS NOT NULL")
    copied = shutil.copytree(folder, folder.with_name("copy"))
    tune(copied, {"min_similarity": 1.0}, "tune")
    judge_again(copied)
    tune(copied, {"min_similarity": 0.8}, "tune")
    judge_again(copied)
    capture(copied, [("/long", Said(NEAR))], Parameters())
    old = selected(copied, "SELECT text IS NULL, html IS NULL FROM pages WHERE latest = 0")
    assert all(text == html for text, html in old)
    assert os.listdir(folder)
