import csv
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.neardup.command_line.running import ROWS, Ended, json_lines, neardup
from tests.neardup.texts import PAGE, changed

EQUAL = {"id": "/a2", "verdict": "text_duplicate", "tier": "text", "distance": 0, "similarity": 1.0}
SUMMARY = (
    "7 texts: 5 kept (1 of them too short to compare, 1 empty), "
    "2 duplicates (1 equal, 1 near) in 2 clusters\n"
)


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(json_lines(ROWS))
    return path


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, ["url", "text"])
        table.writeheader()
        table.writerows(rows)


def check(ended: Ended) -> None:
    assert ended.status == 0, ended.err
    found = ended.lines
    assert [cluster["kept"] for cluster in found] == ["/a", "/b"]
    assert found[0]["duplicates"] == [EQUAL]
    (near,) = found[1]["duplicates"]
    assert near["id"] == "/b2"
    assert near["verdict"] == "near_duplicate"
    assert near["tier"] == "simhash"
    assert 0 <= near["distance"] <= 3
    assert 0.8 <= near["similarity"] < 1
    assert ended.err == SUMMARY


def test_clusters_are_printed_and_the_summary_is_all_on_standard_error(pages: Path) -> None:
    check(neardup(pages))


def test_gzip_and_empty_lines_are_read(tmp_path: Path, pages: Path) -> None:
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(b"\n" + pages.read_bytes().replace(b"\n", b"\n\n")))
    check(neardup(packed))


def test_standard_input_is_read(pages: Path) -> None:
    check(neardup("-", stdin=pages.read_bytes()))


def test_csv_is_read_from_a_file_with_a_mark_and_long_fields(tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    write_csv(path, [*ROWS, {"url": "/long", "text": "line\n" * 200_000}])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    ended = neardup(path)
    assert [cluster["kept"] for cluster in ended.lines] == ["/a", "/b"]
    assert ended.err.startswith("8 texts: 6 kept (1 of them too short to compare, 1 empty)")


def test_csv_is_read_from_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    write_csv(path, ROWS)
    check(neardup("-", "--format", "csv", stdin=path.read_bytes()))


def test_parquet_is_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "pages.parquet"
    parquet.write_table(pa.Table.from_pylist([{"more": 1, **row} for row in ROWS]), path)
    check(neardup(path))


def test_out_is_written_whole_and_replaces_what_stood_there(tmp_path: Path, pages: Path) -> None:
    out = tmp_path / "clusters.jsonl"
    out.write_text("old")
    ended = neardup(pages, "--out", out)
    assert (ended.status, ended.out, ended.err) == (0, "", SUMMARY)
    kept = [json.loads(line)["kept"] for line in out.read_text().splitlines()]
    assert kept == ["/a", "/b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.jsonl", "pages.jsonl"]


def test_a_failure_leaves_the_old_file_of_results(tmp_path: Path) -> None:
    out, pages = tmp_path / "clusters.jsonl", tmp_path / "pages.jsonl"
    out.write_text("old")
    pages.write_bytes(b"{")
    assert neardup(pages, "--out", out).status == 2
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.jsonl", "pages.jsonl"]


@pytest.mark.parametrize("rename", [("url", "id"), ("url", "url")])
def test_the_id_is_the_url_or_else_the_id(tmp_path: Path, rename: tuple[str, str]) -> None:
    pages = tmp_path / "pages.jsonl"
    rows = [{rename[1]: row["url"], "text": row["text"]} for row in ROWS]
    pages.write_bytes(json_lines(rows))
    check(neardup(pages))
    pages.write_bytes(json_lines([{"id": 1, **row} for row in ROWS]))
    check(neardup(pages))


def test_all_names_every_kept_text_and_ids_stay_what_they_are(tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    pages.write_bytes(
        json_lines([{"n": number, "body": row["text"]} for number, row in enumerate(ROWS)])
    )
    ended = neardup(pages, "--all", "--id-field", "n", "--text-field", "body")
    assert [cluster["kept"] for cluster in ended.lines] == [0, 1, 3, 4, 6]
    assert [len(cluster["duplicates"]) for cluster in ended.lines] == [1, 1, 0, 0, 0]


def test_the_distance_decides_alone_without_verification(pages: Path) -> None:
    first = neardup(pages, "--no-verify").lines[1]["duplicates"][0]
    assert (first["verdict"], first["similarity"]) == ("near_duplicate", None)


def test_parameters_reach_the_verdicts(pages: Path) -> None:
    ended = neardup(pages, "--no-verify", "--max-distance", "0")
    assert [cluster["kept"] for cluster in ended.lines] == ["/a"]
    ended = neardup(pages, "--min-similarity", "1")
    assert [cluster["kept"] for cluster in ended.lines] == ["/a"]
    ended = neardup(pages, "--min-words", "500")
    assert "(5 of them too short to compare, 1 empty)" in ended.err
    assert [cluster["kept"] for cluster in ended.lines] == ["/a"]


def test_ids_of_every_kind_of_text_come_back(tmp_path: Path) -> None:
    pages = tmp_path / "pages.jsonl"
    names = ["漢字", "a\ud800", "tab\t", ""]
    rows = [{"url": name, "text": ROWS[0]["text"]} for name in names]
    pages.write_bytes(json_lines(rows))
    (cluster,) = neardup(pages).lines
    assert [cluster["kept"], *(found["id"] for found in cluster["duplicates"])] == names


def test_a_file_named_as_a_command_is_reached_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "compare").write_bytes(json_lines(ROWS))
    check(neardup("./compare", "--format", "jsonl", cwd=tmp_path))


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no devices to write to")
def test_out_may_be_a_device(pages: Path) -> None:
    assert neardup(pages, "--out", os.devnull).status == 0
    assert Path(os.devnull).is_char_device()


SIBLINGS = [
    {"url": "/1", "title": "Widget 3000 | Shop", "text": PAGE},
    {"url": "/2", "title": "Widget 4000 | Shop", "text": changed(PAGE, 2)},
    {"url": "/3", "title": "(2 new) Widget 3000 | Shop", "text": changed(PAGE, 3)},
]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_near_texts_of_other_titles_are_kept(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"shop.{ending}"
    if ending == "parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        pa = pytest.importorskip("pyarrow")
        pq.write_table(pa.Table.from_pylist(SIBLINGS), path)
    else:
        path.write_bytes(json_lines(SIBLINGS))
    ended = neardup(path, "--title-field", "title", "--all")
    first, second = ended.lines
    assert [each["id"] for each in first["duplicates"]] == ["/3"]
    named = {"resembles": "/1", "part_of": "/1", "containment": 0.995}
    assert second == {"kept": "/2", "duplicates": [], **named}
    assert (
        "(0 of them too short to compare, 0 empty, 1 near another one of a different name)"
        in ended.err
    )


def test_titles_are_compared_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "shop.jsonl"
    path.write_bytes(json_lines(SIBLINGS))
    (cluster,) = neardup(path, "--title-field", "title", "--no-compare-names").lines
    assert [each["id"] for each in cluster["duplicates"]] == ["/2", "/3"]


def test_a_missing_field_of_titles_is_named(pages: Path) -> None:
    ended = neardup(pages, "--title-field", "headline")
    assert ended.status == 2
    assert 'no field "headline"' in ended.err


WORDS = [f"word{number}" for number in range(600)]
PARTS = [
    {"url": "/first", "text": " ".join(WORDS[:100])},
    {"url": "/book", "text": " ".join(WORDS)},
    {"url": "/half", "text": " ".join(WORDS[300:])},
]


def test_parts_come_with_the_text_that_holds_them(tmp_path: Path) -> None:
    path = tmp_path / "parts.jsonl"
    path.write_bytes(json_lines(PARTS))
    assert neardup(path).lines == []
    held = {"duplicates": [], "part_of": "/book", "containment": 1.0}
    copied = tmp_path / "copied.jsonl"
    copied.write_bytes(json_lines([*PARTS, {**PARTS[2], "url": "/copy"}]))
    (cluster,) = neardup(copied).lines
    assert "part_of" not in cluster
    first, book, half = neardup(path, "--all").lines
    assert first == {"kept": "/first", **held}
    assert book == {"kept": "/book", "duplicates": []}
    assert half == {"kept": "/half", **held}


def test_parts_are_dropped_on_wish(tmp_path: Path) -> None:
    path = tmp_path / "parts.jsonl"
    path.write_bytes(json_lines(PARTS))
    ended = neardup(path, "--drop-contained")
    (cluster,) = ended.lines
    assert cluster["kept"] == "/book"
    (part,) = cluster["duplicates"]
    assert (part["id"], part["verdict"], part["containment"]) == ("/half", "contained", 1.0)
    assert "1 duplicate (0 equal, 0 near, 1 part) in 1 cluster" in ended.err
    assert neardup(path, "--drop-contained", "--no-verify").status != 0
