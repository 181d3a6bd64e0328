"""Old versions of pages, and parts of pages, over visits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.pages.reasons import Reason
from tests.crawler.pages.test_capture import LONG, OTHER, html
from tests.crawler.pages.test_revisits import NEAR, OPTIONS, PDF, Visiting, visiting
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["visiting"]


class TestVersions:
    @pytest.mark.parametrize(
        ("keep", "left"),
        [(1, [0, 0, 0, 1]), (2, [0, 0, 1, 1]), (9, [1, 1, 1, 1]), (0, [1, 1, 1, 1])],
    )
    def test_so_many_texts_are_kept(self, tmp_path: Path, keep: int, left: list[int]) -> None:
        visiting = Visiting(tmp_path, replace(OPTIONS, keep_versions=keep))
        for number in range(4):
            visiting.get("/a", html(prose(f"version {number}", 300)))
            visiting.again()
        assert visiting.texts("/a") == [bool(has) for has in left]
        visiting.close()
        # The fingerprints of dropped texts stay in the index, which is not made anew.
        again = Visiting(tmp_path, replace(OPTIONS, keep_versions=keep))
        assert again.job.store.count_fingerprints() == 4
        assert again.get("/b", html(prose("version 0", 300))).verdict == "new"
        assert again.get("/c", html(prose("version 3", 300))).is_duplicate
        again.close()

    def test_what_a_copy_says_is_not_dropped(self, tmp_path: Path) -> None:
        visiting = Visiting(tmp_path, replace(OPTIONS, keep_versions=1))
        visiting.get("/a", html(LONG))
        assert visiting.get("/copy", html(LONG)).is_duplicate
        visiting.again()
        # So near that the copy is named a near-duplicate of it, and is not stored by itself.
        visiting.get("/a", html(NEAR))
        visiting.job.end_visit()
        row = visiting.job.store.previous(visiting.answer("/copy").key)
        assert row is not None
        assert row.verdict == "near_duplicate"
        assert visiting.texts("/a") == [True, True]
        visiting.again()
        visiting.get("/a", html(OTHER))
        visiting.job.end_visit()
        row = visiting.job.store.previous(visiting.answer("/copy").key)
        assert row is not None
        assert row.text is not None
        assert visiting.texts("/a") == [False, False, True]
        visiting.close()


class TestParts:
    """A part of a page says what others say so far; what is missing may be all that differs."""

    def test_part_is_no_copy_of_a_page(self, visiting: Visiting) -> None:
        whole = html(LONG)
        visiting.get("/whole", whole)
        for path, part in (("/bytes", whole), ("/text", whole[:-20]), ("/near", whole[:-60])):
            found = visiting.get_part(path, part)
            assert found.verdict == "new", path
            assert visiting.outcome(path) == ("failed", "only a part of it came")

    def test_page_is_no_copy_of_a_part(self, visiting: Visiting) -> None:
        whole = html(LONG)
        for path, part in (("/bytes", whole), ("/text", whole[:-20]), ("/near", whole[:-60])):
            visiting.get_part(path, part)
        assert visiting.get("/whole", whole).verdict == "new"

    def test_parts_of_files_and_of_plain_text_are_no_copies(self, visiting: Visiting) -> None:
        for path, body, content_type in (
            ("/file", PDF, "application/x-unheard-of"),
            ("/plain", LONG.encode(), "text/plain"),
        ):
            answer = replace(visiting.answer(path, body), content_type=content_type)
            copy = replace(visiting.answer(f"{path}-copy", body), content_type=content_type)
            assert not visiting.take(answer).is_duplicate
            assert not visiting.take(replace(copy, cut=Reason.CUT_TRANSFER)).is_duplicate
            other = replace(visiting.answer(f"{path}-other", body), content_type=content_type)
            assert visiting.take(other).kept_url == answer.url

    def test_page_is_new_when_the_whole_of_it_comes(self, visiting: Visiting) -> None:
        visiting.get_part("/a", html(LONG)[:800])
        visiting.again()
        visiting.get_part("/a", html(LONG)[:900])
        assert visiting.outcome("/a")[0] == "failed"
        for outcome in ("new", "unchanged"):
            visiting.again()
            visiting.get("/a", html(LONG))
            assert visiting.outcome("/a")[0] == outcome
        assert visiting.get("/copy", html(LONG)).is_duplicate

    def test_part_of_a_known_page_is_not_judged(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        visiting.get("/b", html(OTHER))
        visiting.again()
        assert visiting.get_part("/a", html(OTHER)).verdict == "unchanged"
        assert visiting.outcome("/a") == ("failed", "only a part of it came")
        assert visiting.texts("/a") == [True]
