"""Record the fleet and the worker's name of a crawl directory."""

from __future__ import annotations

import json
import platform
import re
import secrets
from typing import TYPE_CHECKING, Any

from crawler.frontier.redis import FleetError
from crawler.storage import meta_names

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.storage.database import Database

BEGINNING = "crawl-once:"
"""Prefix of every key of every fleet, after the opening brace if there is one."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def checked_name(name: str) -> str:
    """Return the name of a fleet if it fits into keys and paths.

    Raises:
        FleetError: It does not.
    """
    if not _NAME.fullmatch(name):
        raise FleetError(
            f"FLEET_NAME must be letters, digits, '.', '_' and '-', 100 at most, got {name!r}"
        )
    return name


def name_of_folder(folder: str) -> str:
    """Return the name of a fleet for the folder into which its crawl would go, were it alone."""
    return _UNFIT.sub("-", folder).strip("-._")[:100] or "fleet"


def prefix_of(name: str) -> str:
    """Return the prefix of every key of a fleet, within the braces of its hash tag."""
    return f"{BEGINNING}{name}:"


class Membership:
    """The membership of a crawl directory, stored in ``meta`` of ``crawl.db``.

    A restarted worker keeps its name, so that its earlier leases are returned at once. The copy of
    a directory is another worker.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        stored = database.meta(meta_names.FLEET)
        self._said: dict[str, Any] = json.loads(stored) if stored else {}

    @property
    def name(self) -> str | None:
        """The name of the fleet, or None for a crawl that is alone."""
        return self._said.get("name")

    @property
    def _has_joined(self) -> bool:
        return "id" in self._said

    @property
    def _is_used(self) -> bool:
        # A worker stores its plan before it can join.
        is_planned = self.name is None and self._database.meta(meta_names.PLAN) is not None
        return is_planned or self._database.meta(meta_names.VISIT) is not None

    def check(self, name: str) -> None:
        """Check that the directory is new or this fleet's, and keep it for this fleet.

        A directory whose worker never joined its fleet may join any other.

        Raises:
            FleetError: It holds another crawl.
        """
        if not self._has_joined and self._is_used:
            raise FleetError(
                f"{self._folder}: holds a crawl of its own, not a worker's; choose another JOBDIR"
            )
        if not self._has_joined:
            self._said["name"] = name
            self._save()
        if self.name != name:
            raise FleetError(
                f"{self._folder}: belongs to a worker of the fleet {self.name}; "
                "choose another JOBDIR, or that FLEET_NAME"
            )

    def check_alone(self) -> None:
        """Check that the directory is not a worker's, for a crawl that is alone.

        Raises:
            FleetError: It is a worker's.
        """
        if self._has_joined:
            raise FleetError(
                f"{self._folder}: belongs to a worker of the fleet {self.name}; "
                "give -s FLEET_ENABLED=True, or choose another JOBDIR"
            )

    def join(self, name: str, fleet_id: str) -> None:
        """Join a fleet permanently.

        Raises:
            FleetError: The content of the directory was fetched for another fleet of that name.
        """
        if self._said.get("id", fleet_id) != fleet_id:
            raise FleetError(
                f"{self._folder}: Redis does not know the fleet {name} that this directory was "
                "crawled for, but a later one of that name; what was fetched is whole (scrapy "
                "merge), for a new fleet choose another FLEET_NAME, or move the directory away"
            )
        self._said |= {"name": name, "id": fleet_id}
        self._save()

    @property
    def worker(self) -> str:
        """The name of this worker, which no other has.

        Its directory remembers all names that it had, under which its pages are counted.
        """
        place = f"{platform.node()}:{self._folder}"
        if self._said.get("place") != place:
            host = platform.node().partition(".")[0] or "worker"
            number = secrets.token_hex(4)
            worker = f"{host}/{self._folder.name}/{number}"
            self._said |= {"place": place, "worker": worker}
            self._said["workers"] = [*self._said.get("workers", ()), worker]
            self._save()
        return str(self._said["worker"])

    def _save(self) -> None:
        self._database.set_meta(meta_names.FLEET, json.dumps(self._said))
        self._database.commit()
