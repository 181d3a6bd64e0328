"""Walls of crawls that are merged: their pages stay behind them, and no page is lost to them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.merge.merging import merge
from crawler.maintenance.rejudge.rejudging import rejudge
from crawler.pages.walls import MIN_NAMES, MIN_SUSPECTED_NAMES
from tests.crawler.maintenance.merge.crawls import rows
from tests.crawler.maintenance.verify.crawled import check
from tests.crawler.pages.test_capture import html
from tests.crawler.pages.walled_visits import LOGIN, in_folders, judged_again, stored, visit
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

OWN = html(prose("own", 80), "Own")
PATHS = in_folders(2 * MIN_NAMES)


def merged(tmp_path: Path, *folders: str) -> Path:
    out = tmp_path / "-".join(folders)
    merge(out, [tmp_path / name for name in folders], NoWatch())
    assert check(out).findings == ()
    return out


def test_its_pages_stay_behind_the_wall_with_their_texts(tmp_path: Path) -> None:
    paths = PATHS[:MIN_NAMES]
    visit(tmp_path / "one", [(path, LOGIN) for path in paths])
    visit(tmp_path / "two", [("/own", OWN)])
    out = merged(tmp_path, "two", "one")
    found = stored(out)
    assert {path: found[path] for path in paths} == stored(tmp_path / "one")
    assert [one.verdict for one in visit(out, [("/a/another", LOGIN)])] == ["wall"]
    opened = visit(out, [(paths[0], html(prose("opened", 80), "Open"))])
    assert [one.verdict for one in opened] == ["changed"]
    due = "SELECT count(*) FROM known JOIN pages USING (key) WHERE due_at = 0 AND latest = 1"
    assert rows(out, due) == [(MIN_NAMES,)]
    assert check(out).findings == ()


@pytest.mark.parametrize("folders", [("one", "two"), ("two", "one")])
def test_what_one_crawl_recognised_is_no_page_of_the_other(
    tmp_path: Path, folders: tuple[str, str]
) -> None:
    visit(tmp_path / "one", [(path, LOGIN) for path in PATHS[:MIN_NAMES]])
    more = PATHS[MIN_NAMES - 2 : MIN_NAMES + 1]  # two of the same URLs, and another one
    near = html(f"Please log in to go on. {prose('own', 80)}", "Own")
    visit(tmp_path / "two", [*((path, LOGIN) for path in more), ("/own", near)])
    assert stored(tmp_path / "two")[more[0]][0] == "too_short"
    out = merged(tmp_path, *folders)
    found = stored(out)
    texts = {found[path] for path in PATHS[: MIN_NAMES + 1]}
    assert texts == {stored(tmp_path / "one")[PATHS[0]]}
    assert found["/own"] == stored(tmp_path / "two")["/own"]


@pytest.mark.parametrize("folders", [("one", "two"), ("two", "one")])
def test_the_page_behind_a_wall_that_another_crawl_has_is_kept(
    tmp_path: Path, folders: tuple[str, str]
) -> None:
    paths = PATHS[:MIN_NAMES]
    visit(tmp_path / "one", [(path, LOGIN) for path in paths])
    visit(tmp_path / "two", [(paths[0], OWN)])
    found = stored(merged(tmp_path, *folders))
    assert found[paths[0]] == stored(tmp_path / "two")[paths[0]]
    assert {found[path][0] for path in paths[1:]} == {"wall"}


@pytest.mark.parametrize("folders", [("one", "two"), ("two", "one")])
def test_what_a_page_said_before_the_wall_is_its_newest_text_again(
    tmp_path: Path, folders: tuple[str, str]
) -> None:
    near = html(prose("own", 80) + " Only here: the green handle.", "Own")
    pages = [("/own", OWN), ("/near", near), (PATHS[0], html(prose("first", 80), "First"))]
    visit(tmp_path / "one", pages)
    before = stored(tmp_path / "one")
    assert before["/near"][0] == "near_duplicate"
    visit(tmp_path / "one", [pages[0], ("/near", LOGIN), (PATHS[0], LOGIN)])
    visit(tmp_path / "two", [(path, LOGIN) for path in PATHS[:MIN_NAMES]])
    found = stored(merged(tmp_path, *folders))
    assert {path: found.pop(path) for path in before} == before
    assert {verdict for verdict, _ in found.values()} == {"wall"}


def test_names_of_two_crawls_count_together(tmp_path: Path) -> None:
    for name, first in (("one", 0), ("two", MIN_SUSPECTED_NAMES)):
        answers = [(path, LOGIN) for path in PATHS[first : first + MIN_SUSPECTED_NAMES]]
        visit(tmp_path / name, answers[: MIN_SUSPECTED_NAMES - (name == "two")])
    out = merged(tmp_path, "one", "two")
    kept = [verdict for verdict, _ in stored(out).values() if verdict == "too_short"]
    assert len(kept) == 1
    assert [one.verdict for one in visit(out, [(PATHS[MIN_NAMES - 1], LOGIN)])] == ["wall"]
    assert {verdict for verdict, _ in stored(out).values()} == {"wall"}
    assert check(out).findings == ()


@pytest.mark.parametrize("folders", [("one", "two"), ("two", "one")])
def test_what_a_user_called_a_page_is_none_after_rejudge(
    tmp_path: Path, folders: tuple[str, str]
) -> None:
    for name, first in (("one", 0), ("two", MIN_NAMES)):
        visit(tmp_path / name, [(path, LOGIN) for path in PATHS[first : first + MIN_NAMES]])
    judged_again(tmp_path / "one", PATHS[0])
    out = merged(tmp_path, *folders)
    assert [one.verdict for one in visit(out, [("/a/another", LOGIN)])] == ["exact_duplicate"]
    with closing(CrawlDirectory(out)) as directory:
        rejudge(directory, NoWatch())
    found = stored(out)
    assert sorted({verdict for verdict, _ in found.values()}) == ["exact_duplicate", "too_short"]
    assert check(out).findings == ()


def test_a_wall_of_a_merged_crawl_can_be_taken_back(tmp_path: Path) -> None:
    visit(tmp_path / "one", [(path, LOGIN) for path in PATHS[:MIN_NAMES]])
    visit(tmp_path / "two", [("/own", OWN)])
    out = merged(tmp_path, "one", "two")
    found = judged_again(out, PATHS[3])
    assert (found.judged, found.kept) == (MIN_NAMES + 1, 2)
    assert check(out).findings == ()
