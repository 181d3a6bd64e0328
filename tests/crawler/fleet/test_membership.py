from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.fleet.membership import Membership
from crawler.frontier.redis.errors import FleetError
from crawler.storage.database import Database

if TYPE_CHECKING:
    from pathlib import Path


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
