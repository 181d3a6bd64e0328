import logging
import shutil
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from neardup import Features, HammingIndex, Parameters, analyse, simhash
from neardup.errors import DocumentsFileError, IndexFileError, IndexLockedError
from neardup.fingerprints.minhash import unpacked_signature
from neardup.fingerprints.winnowing import unpacked_sample
from neardup.indexes.passages import add_sample
from neardup.storage.sqlite import SqliteDocuments, open_directory
from tests.damage import run_until_it_kills_itself
from tests.neardup.texts import prose

pytestmark = pytest.mark.slow

COUNT = 40
IDS = [number * 7 % 41 for number in range(COUNT)]  # in no order

KILLED = """
import os, signal, sys
from neardup import Parameters, analyse
from neardup.fingerprints.minhash import unpacked_signature
from neardup.fingerprints.winnowing import unpacked_sample
from neardup.indexes.passages import add_sample
from neardup.storage.sqlite import open_directory
from tests.neardup.texts import prose
documents, index, signatures, passages = open_directory(sys.argv[1], Parameters())
steps = sys.argv[2:]
for step in steps:
    if step == "documents":
        documents.flush()
    elif step == "index":
        index.flush()
        signatures.flush()
        passages.flush()
    else:
        for number in range(*map(int, step.split("-"))):
            document = analyse(prose(number))
            documents.add(number, document)
            index.add(document.fingerprint, number)
            signatures.add(unpacked_signature(document.signature), number)
            add_sample(passages, unpacked_sample(document.sample), number)
os.kill(os.getpid(), signal.SIGKILL)
"""


def fill(path: Path, ids: list[int]) -> None:
    documents, index, signatures, passages = open_directory(path, Parameters())
    for number in ids:
        document = analyse(prose(number))
        documents.add(number, document)
        assert document.fingerprint is not None
        assert document.signature is not None
        index.add(document.fingerprint, number)
        signatures.add(unpacked_signature(document.signature), number)
        add_sample(passages, unpacked_sample(document.sample or b""), number)
    for opened in (documents, index, signatures, passages):
        opened.close()


def check(path: Path, ids: list[int], radius: int = 3) -> None:
    """All hold exactly these ids, and the indexes find each."""
    documents, index, signatures, passages = open_directory(path, Parameters(max_distance=radius))
    with documents, index, signatures, passages:
        assert sorted({*passages.ids().tolist()}) == sorted(ids)
        assert sorted(signatures.ids()) == sorted(ids)
        for number in ids:
            signature = analyse(documents.text(number) or "").signature
            assert signature is not None
            found = signatures.query(unpacked_signature(signature))
            assert (number, 1.0) in found
            sample = unpacked_sample(analyse(documents.text(number) or "").sample or b"")
            held = passages.query_many(sample[:, np.newaxis]).ids
            assert (held == number).sum() == len(sample)
        assert len(documents) == len(index) == len(ids)
        assert [number for _, number in documents.fingerprints()] == ids
        for fingerprint, number in documents.fingerprints():
            assert (number, 0) in index.query(fingerprint)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    fill(tmp_path, IDS)
    return tmp_path


def test_an_index_in_step_is_taken_as_it_is(filled: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check(filled, IDS)
        check(filled, IDS, radius=6)
    assert caplog.messages == []


def test_an_empty_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    check(tmp_path / "deep" / "below", [])


@pytest.mark.parametrize(
    ("steps", "stored"),
    [
        (["0-30", "documents", "index", "30-50"], 30),
        (["0-30", "documents", "index", "30-50", "documents"], 50),
        (["0-30", "documents"], 30),
        (["0-30", "documents", "index", "30-50", "index"], 30),
        (["0-30", "index"], 0),
        (["0-30"], 0),
    ],
)
def test_a_kill_at_any_step_leaves_what_was_flushed_and_an_index_in_step(
    tmp_path: Path, steps: list[str], stored: int
) -> None:
    run_until_it_kills_itself(KILLED, tmp_path, *steps)
    check(tmp_path, list(range(stored)))
    fill(tmp_path, [100])
    check(tmp_path, [*range(stored), 100])


def test_missing_fingerprints_are_added_whatever_the_order_of_ids(filled: Path) -> None:
    with SqliteDocuments(filled / "documents.sqlite") as documents:
        for number in (99, 50, 70):
            documents.add(number, analyse(prose(number)))
    check(filled, [*IDS, 99, 50, 70])


@pytest.mark.parametrize("held", [[100], [100, 101], [101, 99], [100, 99]])
def test_an_index_that_lacks_one_in_the_middle_is_made_anew(filled: Path, held: list[int]) -> None:
    with SqliteDocuments(filled / "documents.sqlite") as documents:
        for number in (99, 100, 101):
            documents.add(number, analyse(prose(number)))
    with HammingIndex(filled / "index") as index:
        for number in held:
            index.add(simhash(prose(number), Parameters().fingerprint_features), number)
    check(filled, [*IDS, 99, 100, 101])


def test_an_index_that_ran_ahead_with_low_ids_is_made_anew(tmp_path: Path) -> None:
    fill(tmp_path, [50, 51])
    with HammingIndex(tmp_path / "index") as index:
        index.add(simhash(prose(7), Parameters().fingerprint_features), 7)
    check(tmp_path, [50, 51])


def test_an_index_of_other_texts_under_the_same_ids_is_made_anew(tmp_path: Path) -> None:
    fill(tmp_path, [1, 2])
    for file in tmp_path.glob("documents.sqlite*"):
        file.unlink()
    with SqliteDocuments(tmp_path / "documents.sqlite") as documents:
        documents.add(1, analyse(prose(11)))
        documents.add(2, analyse(prose(12)))
    check(tmp_path, [1, 2])


def test_an_index_of_other_texts_is_made_anew(filled: Path, tmp_path: Path) -> None:
    with SqliteDocuments(filled / "documents.sqlite") as documents:
        ids = list(range(200, 200 + COUNT))
        assert len(documents) == COUNT
    other = tmp_path / "other"
    fill(other, ids)
    (filled / "documents.sqlite").rename(tmp_path / "kept.sqlite")
    (other / "documents.sqlite").rename(filled / "documents.sqlite")
    check(filled, ids)


def test_texts_that_are_gone_are_missed(filled: Path) -> None:
    (filled / "documents.sqlite").unlink()
    with pytest.raises(DocumentsFileError, match="40 documents were promised, found 0: it was cut"):
        open_directory(filled, Parameters())


def test_an_index_whose_texts_are_gone_holds_nothing(filled: Path) -> None:
    for file in filled.glob("documents.sqlite*"):
        file.unlink()
    check(filled, [])


def test_any_cut_of_any_file_makes_an_error_or_no_difference(tmp_path: Path) -> None:
    steps = ["0-10", "documents", "index", "10-20", "documents", "index"]
    for folder, more in (("closed", []), ("killed", ["index", "20-30"])):
        run_until_it_kills_itself(KILLED, tmp_path / folder, *steps, *more)
    fill(tmp_path / "closed", [100])
    again, cuts = tmp_path / "again", 0
    for folder, ids in (("closed", [*range(20), 100]), ("killed", list(range(20)))):
        files = [file for file in (tmp_path / folder).rglob("*") if file.is_file()]
        for file, place in product(files, range(20)):
            shutil.copytree(tmp_path / folder, again)
            cut = again / file.relative_to(tmp_path / folder)
            cut.write_bytes(file.read_bytes()[: file.stat().st_size * place // 20])
            with suppress(DocumentsFileError):
                check(again, ids)
            shutil.rmtree(again)
            cuts += 1
    assert cuts > 150


def test_texts_whose_file_is_cut_short_are_missed(tmp_path: Path) -> None:
    run_until_it_kills_itself(KILLED, tmp_path, "0-10", "documents", "10-20", "documents")
    (tmp_path / "documents.sqlite-wal").write_bytes(b"")
    with pytest.raises(
        DocumentsFileError, match=r"20 documents were promised, found 0: .* restore"
    ):
        open_directory(tmp_path, Parameters())


def test_a_damaged_promise_is_named(filled: Path) -> None:
    promise = filled / "documents.sqlite-promise"
    whole = promise.read_bytes()
    for damaged in (b"", whole[:-1], whole + b"\0", whole[:3] + b"\1" + whole[4:]):
        promise.write_bytes(damaged)
        with pytest.raises(
            DocumentsFileError, match=r"documents\.sqlite-promise: expected .* or del"
        ):
            open_directory(filled, Parameters())
    promise.unlink()
    check(filled, IDS)
    assert promise.read_bytes() == whole


@pytest.mark.parametrize("damage", ["cut", "garbled", "gone", "empty"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, damage: str) -> None:
    ids = list(range(COUNT))
    for start in range(0, COUNT, 10):
        fill(tmp_path, ids[start : start + 10])
    files = [file for file in (tmp_path / "index").iterdir() if file.suffix in {".log", ".seg"}]
    assert files
    for file in files:
        content = file.read_bytes()
        if damage == "gone":
            file.unlink()
        elif damage == "garbled":
            file.write_bytes(bytes(255 - byte for byte in content))
        else:
            file.write_bytes(content[: len(content) // 2] if damage == "cut" else b"")
        check(tmp_path, ids)


def test_files_of_others_in_the_folder_of_the_index_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    theirs = tmp_path / "index" / "index.html"
    theirs.write_text("theirs")
    with pytest.raises(IndexFileError):
        open_directory(tmp_path, Parameters())
    assert theirs.read_text() == "theirs"


def test_a_directory_is_open_once_and_free_again_after_a_failure(filled: Path) -> None:
    documents, index, signatures, passages = open_directory(filled, Parameters())
    in_use = pytest.raises(DocumentsFileError, match="another process")
    with documents, index, signatures, passages, in_use:
        open_directory(filled, Parameters())
    with pytest.raises(DocumentsFileError, match="features"):
        open_directory(filled, Parameters(Features(size=4)))
    check(filled, IDS)


def test_an_index_open_elsewhere_lets_the_texts_go(filled: Path) -> None:
    with HammingIndex(filled / "index"), pytest.raises(IndexLockedError):
        open_directory(filled, Parameters())
    check(filled, IDS)
