import sqlite3
from pathlib import Path

import pytest

from neardup import Document, NearDupError, analyse
from neardup.errors import ClosedError, DocumentsFileError
from neardup.storage.sqlite import SqliteDocuments
from tests.damage import run_until_it_kills_itself
from tests.neardup.texts import prose

KILLED = """
import os, signal, sys
from neardup import analyse
from neardup.storage.sqlite import SqliteDocuments
documents = SqliteDocuments(sys.argv[1])
for number in range(1500):
    documents.add(number, analyse(f"text {number}"))
    if number == 1199:
        documents.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "documents.sqlite"


def test_what_was_added_is_there_after_closing(path: Path) -> None:
    with SqliteDocuments(path) as documents:
        for number in (5, 3, 9):
            documents.add(number, analyse(prose(number)))
        documents.add(4, analyse("short"))
        postings = list(documents.fingerprints())
    with SqliteDocuments(path) as documents:
        assert [number for _, number in postings] == [5, 3, 9]
        assert list(documents.fingerprints()) == postings
        assert list(documents.fingerprints(skip=2)) == postings[2:]
        assert documents.count_fingerprints() == 3
        assert [documents.highest_id(first) for first in range(4)] == [-1, 5, 5, 9]
        assert len(documents) == 4
        assert documents.text(4) == "short"


def test_what_flush_promised_survives_a_kill(path: Path) -> None:
    run_until_it_kills_itself(KILLED, path)
    with SqliteDocuments(path) as documents:
        assert len(documents) == 1200
        assert documents.text(1199) == "text 1199"
        documents.add(1200, analyse("text 1200"))


def test_an_interrupted_creation_leaves_a_file_that_can_be_made(path: Path) -> None:
    path.touch()
    with SqliteDocuments(path) as documents:
        assert len(documents) == 0


def test_a_file_is_open_once(path: Path) -> None:
    with (
        SqliteDocuments(path),
        pytest.raises(DocumentsFileError, match="open in another process"),
    ):
        SqliteDocuments(path)
    with SqliteDocuments(path) as documents:
        assert len(documents) == 0


def test_fingerprints_of_other_features_are_not_mixed(path: Path) -> None:
    SqliteDocuments(path, features="word-3-set").close()
    with pytest.raises(DocumentsFileError, match="features word-3-set, got word-5-set; ask for"):
        SqliteDocuments(path, features="word-5-set")


def test_a_newer_version_is_named(path: Path) -> None:
    SqliteDocuments(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 6")
    database.close()
    with pytest.raises(DocumentsFileError, match="version 5 expected, got 6"):
        SqliteDocuments(path)


def test_a_database_of_others_is_left_alone(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE theirs (value)")
    database.close()
    content = path.read_bytes()
    with pytest.raises(DocumentsFileError, match="not a file of neardup"):
        SqliteDocuments(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "content", [b"no database", b"\0" * 5_000, b"SQLite format 3\0" + b"x" * 500]
)
def test_a_file_that_is_no_database_is_named(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DocumentsFileError, match=r"documents\.sqlite"):
        SqliteDocuments(path)
    assert path.read_bytes() == content


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentsFileError, match="absent"):
        SqliteDocuments(tmp_path / "absent" / "documents.sqlite")


@pytest.mark.parametrize("place", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_damage_gives_the_right_text_or_an_error_of_ours(path: Path, place: float) -> None:
    with SqliteDocuments(path) as documents:
        for number in range(200):
            documents.add(number, analyse(prose(number)))
    content = bytearray(path.read_bytes())
    start = int(len(content) * place)
    content[start : start + 4096] = bytes(255 - byte for byte in content[start : start + 4096])
    path.write_bytes(content)
    try:
        with SqliteDocuments(path) as documents:
            for number in range(200):
                assert documents.text(number) in {prose(number), None}
    except NearDupError as error:
        assert "documents.sqlite" in str(error)  # noqa: PT017  (either end is right)


def test_a_damaged_text_names_its_id(path: Path) -> None:
    with SqliteDocuments(path) as documents:
        documents.add(7, analyse("text"))
    database = sqlite3.connect(path)
    with database:
        database.execute("UPDATE documents SET text = x'00'")
    database.close()
    with SqliteDocuments(path) as documents, pytest.raises(DocumentsFileError, match="id 7"):
        documents.text(7)


def test_it_is_not_used_after_closing(path: Path) -> None:
    documents = SqliteDocuments(path)
    documents.close()
    documents.close()
    document = Document(1, bytes(16), None, "text")
    for use in (
        lambda: documents.add(1, document),
        lambda: documents.text(1),
        documents.flush,
        lambda: list(documents.fingerprints()),
        lambda: len(documents),
    ):
        with pytest.raises(ClosedError):
            use()
