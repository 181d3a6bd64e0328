"""What is remembered of a crawl, and the command line of its visits."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.console.crawling import lasting_arguments
from crawler.storage.database import Database
from crawler.storage.errors import JobError
from crawler.watch.visiting import (
    WatchOptions,
    planned_arguments,
    remembered_arguments,
    visit_words,
)

if TYPE_CHECKING:
    from pathlib import Path


def made(folder: Path, **meta: str) -> Path:
    """Make a crawl directory with some rows of ``meta``."""
    with closing(Database(folder)) as database:
        for name, value in meta.items():
            database.set_meta(name, value)
    return folder


def test_a_plan_names_its_arguments() -> None:
    plan = "site -a url=http://a/,http://b/ -a scope=host -a deny=x -a y| -a links=+comment"
    assert planned_arguments(plan) == {
        "url": "http://a/,http://b/",
        "scope": "host",
        "deny": "x -a y|",
        "links": "+comment",
    }


def test_stored_arguments_go_before_those_of_the_plan(tmp_path: Path) -> None:
    stored = {"url": "http://a/", "max_depth": "2"}
    folder = made(tmp_path, plan="site -a url=http://a/", arguments=json.dumps(stored))
    assert remembered_arguments(folder) == stored


def test_a_directory_of_an_earlier_version_has_the_arguments_of_its_plan(tmp_path: Path) -> None:
    folder = made(tmp_path, plan="site -a url=http://a/ -a scope=host")
    assert remembered_arguments(folder) == {"url": "http://a/", "scope": "host"}


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({}, "crawled by a spider of your own"),
        ({"plan": "urls -a file=list.txt"}, "crawl-once urls FILE DIR --revisit yes"),
        ({"plan": "replay -a warc=a.warc"}, "the pages of an archive"),
        ({"plan": "site -a url=http://a/", "fleet": "{}"}, "belongs to a fleet"),
    ],
)
def test_what_cannot_be_visited_is_told(tmp_path: Path, meta: dict[str, str], message: str) -> None:
    with pytest.raises(JobError, match=message):
        remembered_arguments(made(tmp_path, **meta))


def test_arguments_of_one_visit_are_not_remembered(tmp_path: Path) -> None:
    given = {"url": "http://a/", "max_pages": "5", "max_time": "1h", "revisit": "yes"}
    assert lasting_arguments(given) == {"url": "http://a/"}
    cookies = lasting_arguments({"cookies": "cookies.txt"})["cookies"]
    assert cookies.startswith("/")
    assert cookies.endswith("/cookies.txt")


def test_a_visit_has_its_limits_settings_and_the_file_of_its_directory(tmp_path: Path) -> None:
    options = WatchOptions(
        60.0, revisit="due", limits={"max_time": "1h"}, settings=["DOWNLOAD_DELAY=2"]
    )
    arguments = {"url": "http://a/", "deny": "-x"}
    words = visit_words(tmp_path, arguments, options)
    limited = ["-a", "deny=-x", "-a", "max_time=1h", "-a", "revisit=due"]
    assert words[:9] == ["crawl", "http://a/", str(tmp_path), *limited]
    assert words[-2:] == ["-s", "DOWNLOAD_DELAY=2"]
    own = tmp_path / "crawl-once.toml"
    own.touch()
    assert f"--config={own}" in visit_words(tmp_path, arguments, options)
    named = options._replace(configuration="other.toml")
    assert "--config=other.toml" in visit_words(tmp_path, arguments, named)
