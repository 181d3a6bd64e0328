from pathlib import Path

import pytest

from tests.neardup.command_line.running import PROJECT, json_lines, neardup, refused
from tests.neardup.texts import changed, prose

DATA = PROJECT.parent / "shared" / "data"

ROWS = [
    {"n": 0, "id": "a", "g": 0, "words": 120, "text": prose(1)},
    {"n": 1, "id": "b", "g": 0},
    {"n": 2, "id": "c", "g": 1, "words": 120, "text": changed(prose(1), 1)},
    {"n": 3, "id": "d", "g": None, "text": None},
    {"n": 4, "id": "e", "g": 2, "words": 2, "text": "two words"},
    {"n": 5, "id": "f", "g": 3, "words": 120, "text": prose(2)},
]
PAIRS = "a,b,j3,j5\n1,0,.95,.92\n0,2,.9,.9\n0,3,.6,.5\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(json_lines(ROWS))
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(PAIRS)
    return path


def test_a_row_for_each_distance_alone_and_one_for_a_deduplicator(texts: Path, pairs: Path) -> None:
    ended = neardup("evaluate", texts, pairs)
    assert (ended.status, ended.err) == (0, "")
    title, features, headings, *rows = ended.out.splitlines()
    assert title == "3 texts of at least 50 words, 1 pair with j5 >= 0.8"
    assert features == "features: word-3-set alone, word-1-log_count confirmed"
    assert headings.split("  ") == [
        "found by", "dropped", "wrong drops", "missed", "names", "precision", "recall",
    ]  # fmt: skip
    cells = [row.split() for row in rows]
    assert [row[:2] for row in cells[:-1]] == [
        [f"{bits}", "bit" if bits == 1 else "bits"] for bits in range(9)
    ]
    assert cells[0][2:] == ["0", "0", "1", "1.0000", "0.0000"]
    assert cells[-1] == ["bands", "1", "0", "0", "0", "1.0000", "1.0000"]


NAMED = [
    {"g": 0, "text": prose(1), "title": "Red lamp"},
    {"g": 1, "text": changed(prose(1), 1), "title": "Blue lamp"},
    {"g": 2, "text": f"{prose(1)} more", "title": "Red lamp"},
    {"g": 3, "text": prose(2), "title": "Table"},
    {"g": 4, "text": f"{prose(2)} more", "title": "Table"},
]
"""Two things in the same words, a copy of the first, and another one with its copy."""


@pytest.mark.parametrize(
    ("options", "cells"),
    [
        (("--title-field", "title"), ["2", "0", "0", "1", "1.0000", "1.0000"]),
        (
            ("--title-field", "title", "--no-compare-names"),
            ["3", "1", "0", "0", "0.6667", "1.0000"],
        ),
        ((), ["3", "1", "0", "0", "0.6667", "1.0000"]),
    ],
)
def test_titles_tell_texts_apart(
    tmp_path: Path, options: tuple[str, ...], cells: list[str]
) -> None:
    texts, pairs = tmp_path / "named.jsonl", tmp_path / "same.csv"
    texts.write_bytes(json_lines(NAMED))
    pairs.write_text("a,b,same\n0,2,1\n3,4,1\n")
    ended = neardup("evaluate", texts, pairs, "--measure", "same", *options)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[-1].split() == ["bands", *cells]


def test_bad_texts_and_pairs_are_named(tmp_path: Path, texts: Path, pairs: Path) -> None:
    bad = tmp_path / "bad.csv"
    assert refused("evaluate", texts, pairs, "--measure", "j9").startswith(
        f"{pairs}, line 2: columns a, b and j9 expected"
    )
    bad.write_text("a,b,j3,j5\n0,1,0.1,0.2\n")
    assert refused("evaluate", texts, bad) == f"{bad}: no pair of the least similarity in it"
    bad.write_text("a,b,j3,j5\n0,2,1,1\n")
    assert refused("evaluate", texts, bad).startswith(f"{bad}: no pair names two texts of at least")
    bad.write_bytes(b"a,b,j5\n\xff,2,1\n")
    assert refused("evaluate", texts, bad) == f"{bad}: not UTF-8: invalid start byte"
    assert refused("evaluate", texts, pairs, "--id-field", "id") == (
        f'{texts}: field "id" must be a whole number, as in the pairs, got "a"'
    )
    assert refused("evaluate", texts, pairs, "--title-field", "name") == (
        'no row has a field "name", as far as the first 1,000 of each file tell; '
        "there are n, id, g, words, text; choose with --title-field"
    )
    texts.write_bytes(b"no JSON")
    assert refused("evaluate", texts, pairs) == f"{texts}: a line that is no JSON"
    texts.write_bytes(b"")
    assert refused("evaluate", texts, pairs) == f"{texts}: no text in it"


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is absent")
def test_real_texts_are_evaluated() -> None:
    files = DATA / "numpy.docs.jsonl.gz", DATA / "numpy.pairs.csv"
    for options in ((), ("--no-compare-names",)):
        title, _, _, *rows = neardup("evaluate", *files, *options).out.splitlines()
        assert title == "4,753 texts of at least 50 words, 10,118 pairs with j5 >= 0.8"
        _, dropped, wrong, missed, names, precision, recall = rows[-1].split()
        assert (wrong, missed, precision, recall) == ("0", "0", "1.0000", "1.0000")
        assert (names == "0") == bool(options)
        assert int(dropped.replace(",", "")) > (2_500 if options else 1_900)
