"""Parameters are changed beside whoever has the directory open."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.job import Job
from crawler.pages.live_parameters import Tuned, history, newest, tune
from crawler.storage import database as room
from crawler.storage.database import Database, beside, open_for_reading
from crawler.storage.errors import JobError, JobVersionError
from neardup import Parameters
from neardup.errors import ParameterError
from tests.crawler.maintenance.verify.crawled import check
from tests.crawler.pages.test_capture import LONG, OPTIONS, OTHER, html
from tests.crawler.pages.test_revisits import NEAR, Visiting
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def visiting(tmp_path: Path) -> Iterator[Visiting]:
    visiting = Visiting(tmp_path)
    yield visiting
    visiting.close()


def commit(visiting: Visiting) -> None:
    """What the crawl does at intervals."""
    visiting.job.database.count_work(1000)
    visiting.job.commit_if_due()


def test_pages_to_come_are_judged_by_the_new_parameters(
    visiting: Visiting, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    visiting.get("/a", html(LONG))
    assert visiting.get("/near", html(NEAR)).row.parameters == 1
    commit(visiting)
    tune(tmp_path, {"max_distance": 0, "min_similarity": 1.0}, "tune")
    with caplog.at_level("INFO"):
        commit(visiting)
    assert "other parameters: max_distance 3 -> 0, min_similarity 0.8 -> 1.0" in caplog.text
    later = visiting.get("/nearer", html(NEAR + " And more."))
    assert (later.verdict, later.row.parameters) == ("new", 2)
    again = visiting.get("/equal", html(LONG, head="<!-- -->"))
    assert (again.verdict, again.row.parameters) == ("text_duplicate", 2)


def test_a_lower_min_words_holds_for_pages_to_come(visiting: Visiting, tmp_path: Path) -> None:
    short = prose("short", 40)
    assert visiting.get("/a", html(short)).verdict == "too_short"
    commit(visiting)
    tune(tmp_path, {"min_words": 10}, "lab")
    commit(visiting)
    found = visiting.get("/b", html(f"{short} More."))
    assert (found.verdict, found.row.fingerprint is not None) == ("new", True)
    assert visiting.get("/c", html(f"{short} More and more.")).verdict == "near_duplicate"
    visiting.again()
    # Whether its words are judged by their fingerprint or not, it says what it said.
    still = visiting.get("/a", html(short, head="<!-- other bytes -->"))
    assert still.verdict == "unchanged"


def test_a_higher_min_words_leaves_the_rest_as_it_is(visiting: Visiting, tmp_path: Path) -> None:
    visiting.get("/a", html(LONG))
    commit(visiting)
    tune(tmp_path, {"min_words": 1000}, "lab")
    commit(visiting)
    found = visiting.get("/b", html(NEAR))
    assert (found.verdict, found.row.fingerprint) == ("too_short", None)
    visiting.again()
    assert visiting.get("/a", html(LONG, head="<!-- other bytes -->")).verdict == "unchanged"


@pytest.mark.parametrize(("before", "after"), [(1000, 50), (50, 1000)])
def test_what_shows_the_same_repeats_it_whatever_min_words_was(
    tmp_path: Path, before: int, after: int
) -> None:
    visiting = Visiting(tmp_path)
    commit(visiting)
    tune(tmp_path, {"min_words": before}, "lab")
    commit(visiting)
    kept = visiting.get("/kept", html(LONG))
    commit(visiting)
    tune(tmp_path, {"min_words": after}, "lab")
    commit(visiting)
    found = visiting.get("/again", html(LONG, head="<!-- other bytes -->"))
    assert (found.verdict, found.kept_url) == ("text_duplicate", kept.row.url)
    assert (found.row.distance, found.row.similarity) == (0, 1.0)
    visiting.again()
    assert visiting.get("/again", html(LONG, head="<!-- new bytes -->")).verdict == "unchanged"
    visiting.get("/kept", html(OTHER))
    visiting.job.end_visit()
    heir = visiting.job.store.previous(found.row.key)
    assert heir is not None
    assert heir.text is not None
    assert heir.has_own_words
    visiting.close()
    assert check(tmp_path).problems == ()


@pytest.mark.parametrize(
    "chosen", ["{}", "[]", "no json", '{"features": "word-3-set", "max_distance": 3}']
)
def test_parameters_of_somebody_else_end_no_crawl(
    visiting: Visiting, tmp_path: Path, caplog: pytest.LogCaptureFixture, chosen: str
) -> None:
    commit(visiting)
    with beside(tmp_path) as connection:
        row = (0.0, "odd", chosen)
        connection.execute("INSERT INTO parameters VALUES (7, ?, ?, ?)", row)
    commit(visiting)
    assert "pages are judged as before" in caplog.text
    assert visiting.job.failure is None
    assert visiting.get("/a", html(LONG)).row.parameters == 1


def test_what_holds_already_is_not_chosen_again(visiting: Visiting, tmp_path: Path) -> None:
    commit(visiting)
    assert tune(tmp_path, {"max_distance": 3}, "tune").id == 1
    assert tune(tmp_path, {"max_distance": 4}, "tune").id == 2
    with closing(open_for_reading(tmp_path)) as connection:
        assert [one.origin for one in history(connection.execute)] == ["settings", "tune"]
        assert newest(connection.execute) == history(connection.execute)[-1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_distanc": 3}, "no parameter max_distanc; did you mean max_distance?"),
        ({"colour": 3}, "no parameter colour; there are max_distance, "),
        ({"features": "word-3-set"}, "features is fixed for a crawl directory"),
        ({"max_distance": 9}, "max_distance must be 0..8"),
        ({"min_similarity": float("nan")}, "min_similarity must be 0..1"),
    ],
)
def test_what_is_wrong_is_named_and_changes_nothing(
    visiting: Visiting, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    commit(visiting)
    with pytest.raises(ParameterError, match=message):
        tune(tmp_path, changes, "tune")
    with closing(open_for_reading(tmp_path)) as connection:
        assert [one.id for one in history(connection.execute)] == [1]


def test_without_a_crawl_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="no crawl in it"):
        tune(tmp_path, {"max_distance": 4}, "tune")
    Database(tmp_path).close()
    with pytest.raises(JobError, match="no crawl has begun in it yet"):
        tune(tmp_path, {"max_distance": 4}, "tune")
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = '4' WHERE name = 'schema_version'")
    with pytest.raises(JobVersionError):
        tune(tmp_path, {"max_distance": 4}, "tune")


def _write_and_fail(folder: Path) -> None:
    with beside(folder) as connection:
        connection.execute("INSERT INTO meta VALUES ('beside', '1')")
        raise ZeroDivisionError


def test_an_exception_rolls_back_what_was_written_beside(tmp_path: Path) -> None:
    Database(tmp_path).close()
    with pytest.raises(ZeroDivisionError):
        _write_and_fail(tmp_path)
    with beside(tmp_path) as connection:
        assert connection.execute("SELECT 1 FROM meta WHERE name = 'beside'").fetchone() is None
        connection.execute("INSERT INTO meta VALUES ('beside', '2')")
    with pytest.raises(JobError, match="cannot be written"), beside(tmp_path) as connection:
        connection.execute("INSERT INTO meta VALUES ('beside', NULL)")
    database = Database(tmp_path)
    assert database.meta("beside") == "2"
    database.close()


def test_who_never_lets_go_is_complained_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "PATIENCE_SECS", 0.1)
    database = Database(tmp_path)
    database.set_meta("held", "1")
    with pytest.raises(JobError, match="another process has been writing"), beside(tmp_path):
        pass
    database.close()
    with beside(tmp_path) as connection:
        assert connection.execute("SELECT value FROM meta WHERE name = 'held'").fetchone()


def test_stage_times_can_be_read_while_the_crawl_runs(
    visiting: Visiting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.pages.commits.INTERVAL_SECS", 0.0)
    commit(visiting)
    visiting.get("/a", html(LONG))
    commit(visiting)
    with closing(open_for_reading(tmp_path)) as connection:
        (said,) = connection.execute("SELECT value FROM meta WHERE name = 'stages'").fetchone()
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        assert json.loads(said)["extract"] > 0
        commit(visiting)  # there was nothing to write, so it is not written for its own sake
        assert connection.execute("PRAGMA data_version").fetchone()[0] == version


def opened(folder: Path, **settings: object) -> Tuned:
    parameters = replace(Parameters(), **settings)  # type: ignore[arg-type]
    job = Job(folder, replace(OPTIONS, parameters=parameters))
    job.close()
    return job.processor.tuned


def test_settings_hold_until_the_crawl_is_tuned(tmp_path: Path) -> None:
    first = opened(tmp_path, max_distance=2)
    assert (first.id, first.origin, first.parameters.max_distance) == (1, "settings", 2)
    assert opened(tmp_path, max_distance=2) == first


def test_what_was_tuned_survives_and_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened(tmp_path)
    tuned = tune(tmp_path, {"max_distance": 5, "verify": False}, "tune")
    with caplog.at_level("INFO"):
        assert opened(tmp_path) == tuned
    assert "as it was tuned: max_distance 3 -> 5, verify True -> False" in caplog.text
    assert tuned.parameters.fingerprint_features == Parameters().fingerprint_features


def test_settings_that_were_changed_since_win_and_only_those(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened(tmp_path)
    tune(tmp_path, {"max_distance": 5, "min_similarity": 0.9}, "tune")
    with caplog.at_level("INFO"):
        found = opened(tmp_path, min_similarity=0.7)
    assert (found.id, found.origin) == (3, "settings")
    assert found.parameters.max_distance == 5
    assert found.parameters.min_similarity == 0.7
    assert "settings were changed and win: min_similarity 0.9 -> 0.7" in caplog.text
    caplog.clear()
    assert opened(tmp_path, min_similarity=0.7) == found
    assert "as it was tuned: max_distance 3 -> 5" in caplog.text


def test_what_was_tuned_back_to_the_settings_is_not_worth_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened(tmp_path)
    tune(tmp_path, {"max_distance": 5}, "tune")
    tune(tmp_path, {"max_distance": 3}, "tune")
    opened(tmp_path)
    assert "tuned" not in caplog.text
