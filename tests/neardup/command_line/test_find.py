"""A corpus into tables or lines by the real command, beside texts judged one after the other."""

from __future__ import annotations

import csv
import gzip
import io
import json
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup import clusters
from neardup.command_line import find
from neardup.corpus.corpus_tables import read_about
from neardup.corpus.single_run import Status
from tests.neardup.batch.corpus import Result, made, online, read_back, title_of
from tests.neardup.command_line.running import FIRST, ROWS, SECOND, json_lines, neardup, refused
from tests.neardup.texts import PAGE, changed, prose

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = 240
SIGN = 1 << 64


def rows_of(texts: list[str]) -> list[dict[str, str]]:
    return [
        {"url": f"http://example.org/{number}", "text": text, "title": title_of(text)}
        for number, text in enumerate(texts)
    ]


def tables(folder: Path) -> Result:
    return read_back(read_about(folder), folder)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return made(1, TEXTS)


@pytest.fixture(scope="module")
def corpus(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows in all formats, some of them damaged, and what the command makes of them."""
    folder = tmp_path_factory.mktemp("corpus")
    source = folder / "in"
    source.mkdir()
    rows = rows_of(texts)
    table = pa.Table.from_pylist(rows[:60])
    pq.write_table(table, source / "a.parquet", row_group_size=25)
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    (source / "b.jsonl.gz").write_bytes(gzip.compress(b"no JSON\n" + b"".join(lines[60:110])))
    (source / "c.jsonl.zst").write_bytes(zstandard.compress(b"".join(lines[110:150])))
    (source / "d.jsonl").write_bytes(b"".join(lines[150:200]) + b'{"url": "/none"}\n')
    records = io.StringIO(newline="")
    writer = csv.DictWriter(records, ["url", "text", "title"])
    writer.writeheader()
    writer.writerows(rows[200:])
    (source / "e.csv").write_text(records.getvalue(), encoding="utf-8", newline="")
    ended = neardup(source, folder / "out")
    assert (ended.status, ended.out) == (0, "")
    assert f"of {len(texts):,} kept" in ended.err
    return folder


def test_verdicts_are_those_of_a_deduplicator_in_the_order_of_the_files(
    corpus: Path, texts: list[str]
) -> None:
    rows = sorted(tables(corpus / "out")["documents"], key=lambda row: row["id"])
    assert [row["name"] for row in rows] == [row["url"] for row in rows_of(texts)]
    by_id = dict(zip((row["id"] for row in rows), texts, strict=True))
    documents, verdicts = online(by_id)
    kinds = set()
    for row in rows:
        verdict, document = verdicts[row["id"]], documents[row["id"]]
        told = asdict(verdict)
        found = {
            name: row["verdict" if name == "kind" else name]
            for name in ("kind", "duplicate_of", "distance", "similarity", "tier", "resembles")
        }
        assert found == {name: told[name] for name in found}
        fingerprint = None if row["fingerprint"] is None else row["fingerprint"] % SIGN
        assert (row["words"], row["digest"], fingerprint) == (
            document.words,
            document.digest,
            document.fingerprint,
        )
        kinds.add(verdict.kind)
    assert kinds == {"new", "near_duplicate", "text_duplicate", "too_short", "same_template"}


def test_tables_agree_with_each_other(corpus: Path, texts: list[str]) -> None:
    found = tables(corpus / "out")
    rows = {row["id"]: row for row in found["documents"]}
    firsts: dict[bytes, int] = {}
    for number in sorted(rows):
        firsts.setdefault(rows[number]["digest"], number)
    for row in rows.values():
        wanted = firsts[row["digest"]] if texts_of(found, row, texts).strip(" \u200b") else None
        assert row["text_id"] == wanted
    kept = {
        n for n, row in rows.items() if row["duplicate_of"] is None and row["text_id"] is not None
    }
    assert {row["id"] for row in found["kept"]} == kept
    assert all(row["text"] == texts_of(found, row, texts) for row in found["kept"])
    near = {
        n for n, row in rows.items() if row["verdict"] == "near_duplicate" and row["text_id"] == n
    }
    assert {row["id"] for row in found["near_texts"]} == near
    decided = {
        (row["resembles" if row["verdict"] == "same_template" else "duplicate_of"], n)
        for n, row in rows.items()
        if row["text_id"] == n and row["verdict"] in {"near_duplicate", "same_template"}
    }
    assert {(row["first"], row["second"]) for row in found["pairs"]} == decided
    assert all(row["first"] in kept for row in found["pairs"])


def texts_of(found: Result, row: dict[str, Any], texts: list[str]) -> str:
    """The text of a row, by the number in its name."""
    name = next(one["name"] for one in found["documents"] if one["id"] == row["id"])
    return texts[int(name.rpartition("/")[2])]


def test_clusters_are_what_equal_texts_and_duplicates_connect(corpus: Path) -> None:
    found = tables(corpus / "out")
    edges = [
        (row["id"], other)
        for row in found["documents"]
        for other in (row["text_id"], row["duplicate_of"])
        if other is not None and other != row["id"]
    ]
    wanted = {member: one.representative for one in clusters(edges) for member in one.members}
    assert {row["id"]: row["representative"] for row in found["clusters"]} == wanted


def test_what_is_no_text_is_counted_by_file(corpus: Path) -> None:
    found = {
        (row["source"].rpartition("/")[2], row["left_out"]): row["count"]
        for row in tables(corpus / "out")["left_out"]
    }
    assert found == {
        ("b.jsonl.gz", "a line that is no JSON"): 1,
        ("d.jsonl", 'no text in the field "text"'): 1,
    }


EQUAL = {"id": "/a2", "verdict": "text_duplicate", "tier": "text", "distance": 0, "similarity": 1.0}


@pytest.mark.parametrize(
    ("packed", "more"),
    [
        (json_lines(ROWS), ["--all"]),
        (gzip.compress(json.dumps(ROWS, indent=1).encode(), mtime=0), []),
    ],
)
def test_without_a_folder_clusters_are_lines(packed: bytes, more: list[str]) -> None:
    ended = neardup("-", "--processes", "1", *more, stdin=packed)
    assert ended.status == 0, ended.err
    first, second, *singles = ended.lines
    assert first == {"kept": "/a", "duplicates": [EQUAL]}
    (near,) = second["duplicates"]
    assert (second["kept"], near["id"], near["verdict"]) == ("/b", "/b2", "near_duplicate")
    assert 0 <= near["distance"] <= 3
    assert 0.8 <= near["similarity"] < 1
    assert [one["kept"] for one in singles] == (["/short", "/a3"] if more else [])
    assert "neardup: -: 4 of 6 kept, 1 equal, 1 near, in " in ended.err
    assert 'neardup: left out: 1: no text in the field "text"; the first in -\n' in ended.err


def test_rows_of_standard_input_without_an_id_are_named_by_their_place() -> None:
    ended = neardup("-", "--processes", "1", stdin=json_lines([{"text": PAGE}] * 2))
    (cluster,) = ended.lines
    assert (cluster["kept"], cluster["duplicates"][0]["id"].partition("#")[0]) == ("-#0", "-")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_rows_that_are_kept_are_written_whole(kind: str, tmp_path: Path) -> None:
    rows = [{"id": f"n{at}", **row, "score": str(at)} for at, row in enumerate(ROWS[:6])]
    source, target = tmp_path / f"rows.{kind}", tmp_path / f"kept.{kind}"
    if kind == "jsonl":
        source.write_bytes(json_lines(rows))
    elif kind == "csv":
        with source.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        pq.write_table(pa.Table.from_pylist(rows), source)
    ended = neardup(str(source), "--filter", str(target))
    assert ended.status == 0, ended.err
    assert f"{target}: 4 rows" in ended.err
    if kind == "parquet":
        found = pq.read_table(target).to_pylist()
    elif kind == "csv":
        found = list(csv.DictReader(io.StringIO(target.read_text(), newline="")))
    else:
        found = list(map(json.loads, target.read_text().splitlines()))
    assert found == [rows[at] for at in (0, 1, 3, 4)]
    again = neardup(str(source), "--filter", str(target))
    assert (again.status, "--overwrite replaces it" in again.err) == (2, True)
    itself = neardup(str(source), "--overwrite", "--filter", str(source))
    assert (itself.status, "is a file of the input" in itself.err) == (2, True)
    assert source.stat().st_size


def test_rows_of_csv_files_are_written_with_their_header(tmp_path: Path) -> None:
    """Also where two columns have one name, a field has a line end, or a file breaks off."""
    folder, target = tmp_path / "in", tmp_path / "kept.CSV"
    folder.mkdir()
    parts = [
        [f'1,"a ""b"", c",{FIRST}', f"2,,{FIRST}", "3,only two"],
        [f'4,"two\r\nlines",{SECOND}', f'5,"é,{FIRST} breaks off'],
        [f'6,"a\rb",{prose(9)}'],
    ]
    for number, lines in enumerate(parts):
        whole = "\r\n".join(["\ufeffid,id,text", *lines])
        (folder / f"{number}.csv").write_bytes(whole.encode())
    (folder / "3.csv").write_bytes(b"")
    ended = neardup(str(folder), "--filter", str(target))
    assert f"{target}: 3 rows" in ended.err
    assert ended.status == 0
    written = ["id,id,text", parts[0][0], parts[1][0], parts[2][0], ""]
    assert target.read_bytes() == "\r\n".join(written).encode()
    (folder / "4.csv").write_text(f"text,id\n{prose(8)},7\n")
    ended = neardup(str(folder), "--overwrite", "--filter", str(target))
    assert (ended.status, "4.csv: has other columns" in ended.err) == (1, True)


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("a.csv", "x.jsonl", "would be csv; let it end in .csv"),
        ("a.csv", "x.tsv", "would be csv; let it end in .csv"),
        ("a.csv", "x.csv.gz", "would be csv; let it end in .csv"),
        ("a.jsonl.gz", "x.parquet", "would be jsonl; let it end in .jsonl"),
        ("a.parquet", "x.jsonl", "would be parquet; let it end in .parquet"),
        ("a.arrow", "x.arrow", "would be parquet; let it end in .parquet"),
    ],
)
def test_an_ending_of_another_format_is_refused(
    tmp_path: Path, source: str, target: str, said: str
) -> None:
    """Before anything is read: these files hold nothing."""
    (tmp_path / source).write_bytes(b"")
    words = (tmp_path / source, tmp_path / "out", "--filter", tmp_path / target)
    assert refused(*words) == f"--filter {tmp_path / target}: {said}"
    assert [path.name for path in tmp_path.iterdir()] == [source]


def test_tables_without_a_kept_row_and_damaged_ones_are_passed(tmp_path: Path) -> None:
    folder, target = tmp_path / "in", tmp_path / "kept.parquet"
    folder.mkdir()
    for name in ("a", "b", "c"):
        pq.write_table(pa.Table.from_pylist(ROWS[:1]), folder / f"{name}.parquet")
    whole = (folder / "c.parquet").read_bytes()
    (folder / "c.parquet").write_bytes(whole[:4] + bytes(40) + whole[44:])
    target.write_bytes(b"of the user")
    ended = neardup(str(folder), "--overwrite", "--filter", str(target))
    assert "1 row" in ended.err
    assert pq.read_table(target).to_pylist() == ROWS[:1]


def test_half_of_a_pair_is_written_as_an_escape(tmp_path: Path) -> None:
    source, target = tmp_path / "rows.jsonl", tmp_path / "kept.jsonl"
    source.write_text(json.dumps({"text": PAGE, "said": "\ud83d"}) + "\n")
    assert neardup(str(source), "--filter", str(target)).status == 0
    assert json.loads(target.read_text(encoding="utf-8"))["said"] == "\ud83d"


def test_near_texts_of_other_titles_are_kept_and_named(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 1, "name": {"of": "Widget 3000 | Shop"}, "text": PAGE},
        {"id": 2, "name": {"of": "Widget 4000 | Shop"}, "text": changed(PAGE, 2)},
        {
            "url": "a\ud800 漢字",
            "name": {"of": "(2 new) Widget 3000 | Shop"},
            "text": changed(PAGE, 3),
        },
    ]
    (tmp_path / "compare").write_bytes(json_lines(rows))
    options = ["--format", "jsonl", "--title-field", "name.of", "--all"]
    first, second = neardup("./compare", *options, cwd=tmp_path).lines
    assert [one["id"] for one in first["duplicates"]] == ["a? 漢字"]
    assert (first["kept"], second) == ("1", {"kept": "2", "duplicates": [], "resembles": "1"})


def test_what_cannot_be_read_ends_with_1_and_loses_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    whole = b"".join(zstandard.compress(line + b"\n") for line in json_lines(ROWS).splitlines())
    (folder / "a.jsonl.zst").write_bytes(whole + zstandard.compress(b"x")[:-1])
    (folder / "b.jsonl.lz4").write_bytes(b"x")
    (folder / "c.WARC.xz").write_bytes(b"x")
    for words in ([folder], [folder, tmp_path / "out"]):
        ended = neardup(*words)
        assert ended.status == 1
        said = ended.err.splitlines()
        assert said[0] == "neardup: passed over: 2 files of no known format: .WARC.xz, .lz4"
        results = words[1] if words[1:] else "standard output"
        assert said[-1] == (
            f"neardup: {folder}/a.jsonl.zst: damaged: it breaks off; all that could be read "
            f"is in {results}"
        )
        assert len(ended.lines) == (0 if words[1:] else 2)
    assert len(tables(tmp_path / "out")["kept"]) == 4
    (folder / "a.jsonl.zst").write_bytes(b"none")
    ended = neardup(folder, tmp_path / "none")
    assert (ended.status, ended.out) == (1, "")
    assert "no text in it; damaged: zstd" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["README.md", "out", "--format", "jsonl", "--all"], "--all is of no use with OUT"),
        (["README.md", "--against", "old"], "--against needs OUT"),
        (["no.jsonl", "out"], "no.jsonl: no such file or folder"),
        (["README.md", "--format", "jsonl", "--memory", "much"], "--memory takes a number"),
        (["README.md", "docs", "--format", "jsonl"], "docs: holds something else"),
        (["README.md", "--format", "jsonl", "--language", "en,"], 'en,de; "" is none'),
        (["README.md", "out", "--format", "jsonl", "--extractor", "blocks"], "is for WARC"),
        (
            ["README.md", "out", "--format", "warc", "--extractor", "bloks"],
            "--extractor takes blocks or trafilatura, got bloks",
        ),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(arguments: list[str], said: str) -> None:
    assert said in refused(*arguments)


def test_a_corpus_without_texts_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("no JSON\n")
    said = refused(tmp_path / "a.jsonl", tmp_path / "out")
    assert said == f"{tmp_path / 'a.jsonl'}: no text in it; a line that is no JSON"
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("first", [b"no JSON\n", b""])
def test_where_no_row_has_the_usual_field_others_are_named(tmp_path: Path, first: bytes) -> None:
    rows: list[dict[str, Any]] = [{"doc_id": 1, "body": PAGE}, {"doc_id": 2}]
    (tmp_path / "a.jsonl").write_bytes(first + json_lines(rows))
    assert refused(tmp_path / "a.jsonl", tmp_path / "out") == (
        'no row has a field "text", as far as the first 1,000 of each file tell; there are '
        "doc_id, body; choose with --text-field"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_field_that_is_empty_everywhere_is_none_that_no_row_has(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(json_lines(ROWS[-1:]))
    said = refused(tmp_path / "a.jsonl", tmp_path / "out")
    assert said == f'{tmp_path / "a.jsonl"}: no text in it; no text in the field "text"'


def test_progress_has_no_speed_before_one_is_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(find, "_SECS_BETWEEN_LINES", 0)
    with closing(find._Shown()) as shown:
        for documents, share in ((512, 0.25), (1024, 0.5)):
            shown(Status(documents, 9, share))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "neardup: 512 documents, 9 kept, 25%"
    assert second.startswith("neardup: 1,024 documents, 9 kept, 50%, ")
    assert "a second, " in second
    assert second.endswith(" left")
