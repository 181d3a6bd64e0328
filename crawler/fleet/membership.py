"""To which fleet a crawl directory belongs, and as which worker."""

from __future__ import annotations

import json
import platform
import secrets
from typing import TYPE_CHECKING

from crawler.frontier.redis.errors import FleetError

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.storage.database import Database

FLEET = "fleet"
"""Under this name ``meta`` remembers it."""


class Membership:
    """What ``crawl.db`` remembers of it, in ``meta``.

    A worker keeps its name when it is started again, so that what it held is returned at
    once. Of a directory that was copied the copy is another worker.

    Args:
        database: That of the worker.
        folder: Its crawl directory.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        stored = database.meta(FLEET)
        self._said: dict[str, str] = json.loads(stored) if stored else {}

    @property
    def name(self) -> str | None:
        """The name of the fleet; None of a crawl that is alone."""
        return self._said.get("name")

    @property
    def _has_joined(self) -> bool:
        return "id" in self._said

    @property
    def _is_used(self) -> bool:
        # A worker says what it is to crawl before it can join.
        is_planned = self.name is None and self._database.meta("plan") is not None
        return is_planned or self._database.meta("visit") is not None

    def check(self, name: str) -> None:
        """See that the directory is new, or this fleet's; it is kept for this fleet from now on.

        Where the fleet could not be joined so far, it may be had for any other.

        Raises:
            FleetError: It holds something else.
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
        """See that the directory is not a worker's, for a crawl that is alone.

        Raises:
            FleetError: It is.
        """
        if self._has_joined:
            raise FleetError(
                f"{self._folder}: belongs to a worker of the fleet {self.name}; "
                "give -s FLEET_ENABLED=True, or choose another JOBDIR"
            )

    def join(self, name: str, fleet_id: str) -> None:
        """Belong to a fleet from now on.

        Raises:
            FleetError: What the directory holds was fetched for another fleet of that name.
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
        """The name of this worker, which no other has."""
        place = f"{platform.node()}:{self._folder}"
        if self._said.get("place") != place:
            host = platform.node().partition(".")[0] or "worker"
            number = secrets.token_hex(4)
            self._said |= {"place": place, "worker": f"{host}/{self._folder.name}/{number}"}
            self._save()
        return self._said["worker"]

    def _save(self) -> None:
        self._database.set_meta(FLEET, json.dumps(self._said))
        self._database.commit()
