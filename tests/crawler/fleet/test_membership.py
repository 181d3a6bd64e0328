"""Names and directories of a fleet's workers."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.fleet.membership import Membership
from crawler.frontier.redis import FleetError
from crawler.storage.database import Database
from neardup.errors import ServerError
from neardup.storage.redis.connecting import connect, place_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://user:secret@example.com:7000/3", "example.com:7000"),
        ("rediss://:secret@example.com", "example.com:6379"),
        ("redis://[::1]:7000", "[::1]:7000"),
        ("redis://example.com/0?password=secret", "example.com:6379"),
        ("unix://user:secret@/run/redis.sock?password=secret", "/run/redis.sock"),
    ],
)
def test_shows_neither_user_nor_password(url: str, shown: str) -> None:
    assert place_of(url) == shown


@pytest.mark.parametrize(
    "url", ["redis://:secret/7@127.0.0.1", "redis://u:secret#@127.0.0.1", "redis://:a@b:secret?@h"]
)
def test_shows_nothing_of_a_password_that_is_not_escaped(url: str) -> None:
    with pytest.raises(ServerError) as refused:
        place_of(url)
    with pytest.raises(ServerError) as unconnected:
        asyncio.run(connect(url))
    assert "secret" not in f"{refused.value} {unconnected.value}"
    assert "%XX" in str(refused.value)
    assert "%XX" in str(unconnected.value)


def _checked(folder: Path, name: str) -> Membership:
    with closing(Database(folder)) as database:
        membership = Membership(database, folder)
        membership.check(name)
        return membership


def _note(folder: Path, name: str, value: str) -> None:
    with closing(Database(folder)) as database:
        database.set_meta(name, value)


def _join(folder: Path, name: str, fleet_id: str) -> None:
    with closing(Database(folder)) as database:
        Membership(database, folder).join(name, fleet_id)


def test_a_worker_whose_redis_was_not_there_can_try_again(tmp_path: Path) -> None:
    assert _checked(tmp_path, "one").name == "one"
    _note(tmp_path, "plan", "site -a url=http://a.test/")
    assert _checked(tmp_path, "one").name == "one"
    assert _checked(tmp_path, "two").name == "two"


def test_what_a_crawl_alone_has_begun_is_refused(tmp_path: Path) -> None:
    _note(tmp_path, "plan", "site -a url=http://a.test/")
    with pytest.raises(FleetError, match="holds a crawl of its own"):
        _checked(tmp_path, "one")


def test_what_a_crawl_alone_did_where_a_worker_never_joined_is_refused(tmp_path: Path) -> None:
    _checked(tmp_path, "one")
    _note(tmp_path, "visit", "1")
    with pytest.raises(FleetError, match="holds a crawl of its own"):
        _checked(tmp_path, "one")


def test_a_joined_directory_stays_with_its_fleet(tmp_path: Path) -> None:
    _checked(tmp_path, "one")
    _join(tmp_path, "one", "1f")
    _note(tmp_path, "visit", "1")
    assert _checked(tmp_path, "one").name == "one"
    with pytest.raises(FleetError, match="belongs to a worker of the fleet one"):
        _checked(tmp_path, "two")
    with closing(Database(tmp_path)) as database, pytest.raises(FleetError, match="fleet one"):
        Membership(database, tmp_path).check_alone()
    with pytest.raises(FleetError, match="a later one of that name"):
        _join(tmp_path, "one", "2f")


def test_a_copied_directory_is_another_worker(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        first = Membership(database, tmp_path).worker
        assert Membership(database, tmp_path).worker == first
        assert Membership(database, tmp_path / "copy").worker != first
