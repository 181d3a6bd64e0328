"""The shipped content model is trained again where its features or its pages have changed."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from content_digests import CODE, code_digest, pages_digest, shipped_digests

PAGES, MORE = FOLDERS = [
    Path(__file__).resolve().parents[3] / "shared" / "data" / name for name in ("pages", "news")
]
RETRAIN = "train the content model again, as CONTRIBUTING.md says"


def test_shipped_model_was_trained_by_the_code_that_is_here() -> None:
    assert shipped_digests().code == code_digest(), RETRAIN


@pytest.mark.skipif(not (PAGES.exists() and MORE.exists()), reason="the pages are not here")
def test_shipped_model_was_trained_on_the_pages_that_are_here() -> None:
    assert shipped_digests().pages == pages_digest(FOLDERS), RETRAIN


def digest_of(folder: Path, source: str, ending: str) -> str:
    """Return the digest of a module of this source."""
    file = folder / f"features{ending}"
    file.write_text(source)
    return code_digest([file])


_SOURCE = (
    'LIMIT = 3\n\n\ndef row(size: int) -> int:\n    """Return a row."""\n    return size + 1\n'
)


@pytest.mark.parametrize("ending", [".py", ".pyx"])
class TestCodeDigest:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("LIMIT = 3", "LIMIT = 4"),
            ("LIMIT", "MOST"),
            ("size + 1", "size - 1"),
            ("size + 1", "1 + size"),
            ("size + 1", "size"),
            ("return size", "return None\n    return size"),
            ("LIMIT = 3", "LIMIT = '3'"),
        ],
    )
    def test_what_the_code_does_changes_it(
        self, tmp_path: Path, old: str, new: str, ending: str
    ) -> None:
        before = digest_of(tmp_path, _SOURCE, ending)
        assert digest_of(tmp_path, _SOURCE.replace(old, new), ending) != before

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('"""Return a row."""', '"""Return the row of a block."""'),
            ('    """Return a row."""\n', ""),
            ("size: int", "size: int  # of a block\n"),
            ("LIMIT = 3", "LIMIT = 3  # blocks"),
        ],
    )
    def test_how_it_is_written_does_not(
        self, tmp_path: Path, old: str, new: str, ending: str
    ) -> None:
        before = digest_of(tmp_path, _SOURCE, ending)
        assert digest_of(tmp_path, _SOURCE.replace(old, new), ending) == before


def test_every_module_of_features_counts() -> None:
    for file in CODE:
        assert code_digest(one for one in CODE if one != file) != code_digest()


class TestPagesDigest:
    def test_changes_with_a_page_and_not_with_its_compression(self, tmp_path: Path) -> None:
        page = tmp_path / "0001.html.gz"
        page.write_bytes(gzip.compress(b"<p>One", 1))
        before = pages_digest([tmp_path])
        page.write_bytes(gzip.compress(b"<p>One", 9, mtime=0))
        assert pages_digest([tmp_path]) == before
        page.write_bytes(gzip.compress(b"<p>Two"))
        assert pages_digest([tmp_path]) != before


def test_model_without_digests_has_empty_ones(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "model.npz", bias=np.float32(0))
    assert shipped_digests(tmp_path / "model.npz") == ("", "")
