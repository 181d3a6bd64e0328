"""With which parameters verdicts are made: the table ``parameters``, whose newest row holds."""

from __future__ import annotations

import difflib
import json
import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawler.pages.export import iso_time
from crawler.storage.concurrent_write import beside
from crawler.storage.errors import JobError
from neardup import Features, ParameterError, Parameters

if TYPE_CHECKING:
    import sqlite3

    from crawler.pages.capture import Archivist
    from crawler.storage.database import Database

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    Execute = Callable[[str, Sequence[Any]], sqlite3.Cursor]

SETTINGS = "settings"
"""The origin of parameters that the settings of a crawl named."""

TUNABLE = ("max_distance", "candidate_distance", "min_similarity", "min_words", "verify")
"""What may change while a crawl goes on; fingerprints of other features cannot be compared."""

_SELECT = "SELECT id, since, origin, chosen FROM parameters ORDER BY id"


@dataclass(frozen=True, slots=True)
class Tuned:
    """Parameters of a crawl.

    Attributes:
        id: Which verdicts name, as ``pages.parameters``.
        parameters: Their features are always named.
        since: When they began to hold, seconds since 1970.
        origin: Who chose them: ``settings``, ``tune``, ``lab``.
    """

    id: int
    parameters: Parameters
    since: float
    origin: str


def current(connection: sqlite3.Connection) -> Tuned | None:
    """The parameters that hold; None where no crawl ever opened the directory.

    Raises:
        JobError: They were not written by this program.
    """
    return newest(connection.execute)


def history(connection: sqlite3.Connection) -> list[Tuned]:
    """All that ever held, the first ones first."""
    return [_tuned(*row) for row in connection.execute(_SELECT)]


def tune(folder: Path, changes: Mapping[str, object], origin: str) -> Tuned:
    """Change the parameters of a crawl, which takes them over within a second if it is running.

    They hold for pages to come, also of later processes.

    Args:
        folder: The crawl directory.
        changes: New values by the names in ``TUNABLE``; the others stay.
        origin: Who chose them, such as ``tune``.

    Returns:
        What holds now; what held before where that is the same.

    Raises:
        ParameterError: A name or a value is wrong, or two do not go together.
        JobError: There is no crawl, or it cannot be written to.
    """
    for name in changes:
        check_name(name)
    with beside(folder) as connection:
        held = current(connection)
        if held is None:
            raise JobError(f"{folder}: no crawl has begun in it yet")
        wanted = replace(held.parameters, **changes)  # type: ignore[arg-type]  # it checks them
        if wanted == held.parameters:
            return held
        return add(connection.execute, wanted, origin)


def check_name(name: str) -> None:
    """Refuse what is no parameter that may change.

    Raises:
        ParameterError: It is none; the message says what was meant.
    """
    if name in {"features", "verify_shingle_size"}:
        raise ParameterError(f"{name} is fixed for a crawl directory; crawl into a new one")
    if name not in TUNABLE:
        close = difflib.get_close_matches(name, TUNABLE, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(TUNABLE)}"
        raise ParameterError(f"no parameter {name}; {hint}")


def newest(read: Execute) -> Tuned | None:
    """``current``, by whatever runs a query."""
    row = read(f"{_SELECT} DESC LIMIT 1", ()).fetchone()
    return None if row is None else _tuned(*row)


def add(write: Execute, parameters: Parameters, origin: str) -> Tuned:
    """Let other parameters hold, by whatever runs a statement."""
    since = time.time()
    row = (since, origin, to_json(parameters))
    sql = "INSERT INTO parameters (since, origin, chosen) VALUES (?, ?, ?)"
    number = write(sql, row).lastrowid
    assert number is not None
    return _tuned(number, *row)


def to_json(parameters: Parameters) -> str:
    """Parameters as they are stored."""
    values = {name: getattr(parameters, name) for name in TUNABLE}
    return json.dumps({"features": str(parameters.fingerprint_features), **values})


def from_json(chosen: str) -> Parameters:
    """Undo ``to_json``."""
    values = json.loads(chosen)
    return Parameters(features=Features.parsed(values.pop("features")), **values)


def _tuned(number: int, since: float, origin: str, chosen: str) -> Tuned:
    try:
        return Tuned(number, from_json(chosen), since, origin)
    except (AttributeError, KeyError, ParameterError, TypeError, ValueError) as error:
        raise JobError(f"crawl.db: parameters {number} cannot be read: {error}") from error


_META = "settings_parameters"
"""What the settings said when the crawl was last opened."""


def settle(database: Database, settings: Parameters) -> Tuned:
    """Say what holds from now on, and remember what the settings say.

    What a crawl was tuned to goes on holding, but for the settings that are other ones than when
    it was last opened: they win, since the user has changed them last.
    """
    held, remembered = newest(database.read), database.meta(_META)
    if to_json(settings) != remembered:
        database.set_meta(_META, to_json(settings))
    if held is None or remembered is None:
        return add(database.write, settings, SETTINGS)
    before = from_json(remembered)
    changed = _changes(before, settings)
    wanted = _with(held.parameters, changed, settings)
    if wanted == held.parameters:
        if _changes(settings, wanted):
            logger.warning("the crawl goes on as it was tuned: %s", in_words(settings, wanted))
        return held
    logger.warning("settings were changed and win: %s", in_words(held.parameters, wanted))
    return add(database.write, wanted, SETTINGS)


def _with(held: Parameters, changed: dict[str, object], settings: Parameters) -> Parameters:
    try:
        return replace(held, **changed)  # type: ignore[arg-type]  # names and values of Parameters
    except ParameterError:  # what was tuned does not go together with it; the settings' do
        return replace(settings, features=held.features)


def _changes(before: Parameters, after: Parameters) -> dict[str, object]:
    return {
        name: getattr(after, name)
        for name in TUNABLE
        if getattr(after, name) != getattr(before, name)
    }


def in_words(before: Parameters, after: Parameters) -> str:
    """What changes from one to the other: ``max_distance 3 -> 5, verify True -> False``."""
    found = (
        f"{name} {getattr(before, name)} -> {value}"
        for name, value in _changes(before, after).items()
    )
    return ", ".join(found) or "as the settings have it"


class Takeover:
    """Hands parameters that somebody else wrote into ``crawl.db`` to who judges the pages.

    Args:
        database: That of the running crawl.
        archivist: Judges by what held when the crawl was opened.
    """

    def __init__(self, database: Database, archivist: Archivist) -> None:
        self._database = database
        self._archivist = archivist
        self._seen = -1

    def look(self) -> None:
        """Take over what is new; to be called often, and right after a commit of the crawl's own.

        Commits of others can be seen only between its own. Nothing is read where there was none.
        """
        version = self._database.data_version
        if version == self._seen:
            return
        self._seen = version
        try:
            tuned = newest(self._database.read)
            if tuned is not None and tuned.id != self._archivist.tuned.id:
                self._take_over(tuned)
        except (JobError, ParameterError) as error:  # a crawl does not end for it
            logger.warning("pages are judged as before: %s", error)

    def _take_over(self, tuned: Tuned) -> None:
        before = self._archivist.tuned
        self._archivist.tune(tuned)
        changes = in_words(before.parameters, tuned.parameters)
        logger.warning("pages from now on are judged by other parameters: %s", changes)


_COUNTS = """
SELECT parameters, count(*) FROM pages
WHERE latest = 1 AND parameters IS NOT NULL GROUP BY parameters
"""


@dataclass(frozen=True, slots=True)
class TuningReport:
    """What ``scrapy tune`` says.

    Attributes:
        history: All parameters that ever held; the last ones hold.
        pages: Newest captures that were judged with each, in the same order.
    """

    history: tuple[Tuned, ...]
    pages: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """As ``scrapy tune --json`` prints it."""
        rows = [
            {
                "id": tuned.id,
                "since": iso_time(tuned.since),
                "origin": tuned.origin,
                **json.loads(to_json(tuned.parameters)),
                "pages": pages,
            }
            for tuned, pages in zip(self.history, self.pages, strict=True)
        ]
        return {"current": rows[-1] if rows else None, "history": rows}


def tuning_report(connection: sqlite3.Connection) -> TuningReport:
    """Read it from a crawl's database.

    Complexity: O(pages).
    """
    connection.execute("BEGIN")
    try:
        found = history(connection)
        counts = dict(map(tuple, connection.execute(_COUNTS)))
    finally:
        connection.execute("ROLLBACK")
    return TuningReport(tuple(found), tuple(counts.get(tuned.id, 0) for tuned in found))
