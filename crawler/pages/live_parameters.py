"""Store the parameters of verdicts in the table ``parameters``, whose newest row holds."""

from __future__ import annotations

import difflib
import json
import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawler.pages.export import choices_met
from crawler.pages.items import iso_time
from crawler.storage import meta_names
from crawler.storage.database import beside, meta_of
from crawler.storage.errors import JobError
from neardup import Features, Parameters
from neardup.errors import ParameterError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from crawler.storage.database import Database

    Execute = Callable[[str, Sequence[Any]], sqlite3.Cursor]

logger = logging.getLogger(__name__)

SETTINGS = "settings"
"""Origin of parameters that come from the settings of a crawl."""

TUNABLE = (
    "max_distance",
    "min_similarity",
    "min_words",
    "verify",
    "compare_names",
    "ignore_boilerplate",
    "drop_contained",
)
"""Names of the parameters that may change while a crawl goes on.

The features may not: fingerprints of other features cannot be compared.
"""

NO_PARTS = "a fleet looks for no parts of pages; merge it, and crawl-once rejudge drops them"
"""Why ``drop_contained`` is refused in a fleet."""

_SELECT = "SELECT id, since, origin, chosen FROM parameters ORDER BY id"


@dataclass(frozen=True, slots=True)
class Tuned:
    """Parameters of a crawl.

    Attributes:
        id: Id that verdicts name as ``pages.parameters``.
        parameters: The parameters, with their features named.
        since: Time from which they hold, in seconds since 1970.
        origin: Source of the parameters: ``settings``, ``tune`` or ``lab``.
    """

    id: int
    parameters: Parameters
    since: float
    origin: str


def history(read: Execute) -> list[Tuned]:
    """Return all parameters that ever held, the first ones first; see ``newest``."""
    return [_tuned(*row) for row in read(_SELECT, ())]


def tune(folder: Path, changes: Mapping[str, object], origin: str) -> Tuned:
    """Change the parameters of a crawl; a running one adopts them within a second.

    They hold for later pages, also those of later processes.

    Args:
        folder: The crawl directory.
        changes: New values by the names in ``TUNABLE``; the others stay.
        origin: Source of the change, such as ``tune``.

    Returns:
        The parameters that hold afterwards, unchanged if the new values are the same.

    Raises:
        ParameterError: A name or a value is wrong.
        JobError: There is no crawl, or it cannot be written to.
    """
    for name in changes:
        check_name(name)
    with beside(folder) as connection:
        held = newest(connection.execute)
        if held is None:
            raise JobError(f"{folder}: no crawl has begun in it yet")
        if meta_of(connection.execute, meta_names.FLEET) is not None:
            check_for_fleet(changes)
        wanted = replace(held.parameters, **changes)  # type: ignore[arg-type]  # it checks them
        if wanted == held.parameters:
            return held
        return add(connection.execute, wanted, origin)


def check_name(name: str) -> None:
    """Check that a parameter of this name may change.

    Raises:
        ParameterError: It is not; the message suggests one.
    """
    if name in {"features", "verify_shingle_size"}:
        raise ParameterError(f"{name} is fixed for a crawl directory; crawl into a new one")
    if name not in TUNABLE:
        close = difflib.get_close_matches(name, TUNABLE, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(TUNABLE)}"
        raise ParameterError(f"no parameter {name}; {hint}")


def check_for_fleet(changes: Mapping[str, object]) -> None:
    """Check that a fleet can judge by new values.

    Raises:
        ParameterError: It cannot.
    """
    if changes.get("drop_contained"):
        raise ParameterError(f"drop_contained must be False: {NO_PARTS}")


def newest(read: Execute) -> Tuned | None:
    """Return the parameters that hold, or None if no crawl ever opened the directory.

    Args:
        read: Function that runs a query.

    Raises:
        JobError: They were not written by this program.
    """
    row = read(f"{_SELECT} DESC LIMIT 1", ()).fetchone()
    return None if row is None else _tuned(*row)


def add(write: Execute, parameters: Parameters, origin: str) -> Tuned:
    """Store new parameters by a function that runs a statement; they hold from now on."""
    since = time.time()
    row = (since, origin, to_json(parameters))
    sql = "INSERT INTO parameters (since, origin, chosen) VALUES (?, ?, ?)"
    number = write(sql, row).lastrowid
    assert number is not None
    return _tuned(number, *row)


def to_json(parameters: Parameters) -> str:
    """Serialize parameters as they are stored."""
    values = {name: getattr(parameters, name) for name in TUNABLE}
    return json.dumps({"features": str(parameters.fingerprint_features), **values})


def from_json(chosen: str) -> Parameters:
    values = json.loads(chosen)
    return Parameters(features=Features.parsed(values.pop("features")), **values)


def _tuned(number: int, since: float, origin: str, chosen: str) -> Tuned:
    try:
        return Tuned(number, from_json(chosen), since, origin)
    except (AttributeError, KeyError, ParameterError, TypeError, ValueError) as error:
        raise JobError(f"crawl.db: parameters {number} cannot be read: {error}") from error


def adopt_settings(database: Database, settings: Parameters) -> Tuned:
    """Return the parameters that hold from now on, and remember the settings.

    Tuned parameters stay in force, except for settings that changed since the crawl was last
    opened: these win, since the user has changed them last.
    """
    held, remembered = newest(database.read), database.meta(meta_names.SETTINGS_PARAMETERS)
    if to_json(settings) != remembered:
        database.set_meta(meta_names.SETTINGS_PARAMETERS, to_json(settings))
    if held is None or remembered is None:
        return add(database.write, settings, SETTINGS)
    before = from_json(remembered)
    changed = changes_between(before, settings)
    wanted = replace(held.parameters, **changed)  # type: ignore[arg-type]  # their own values
    if wanted == held.parameters:
        if changes_between(settings, wanted):
            logger.warning("the crawl goes on as it was tuned: %s", in_words(settings, wanted))
        return held
    logger.warning("settings were changed and win: %s", in_words(held.parameters, wanted))
    return add(database.write, wanted, SETTINGS)


def has_settings(database: Database, settings: Parameters) -> bool:
    """Return whether the crawl was last opened with the same parameters among its settings."""
    return database.meta(meta_names.SETTINGS_PARAMETERS) == to_json(settings)


def changes_between(before: Parameters, after: Parameters) -> dict[str, object]:
    """Return the new values of what differs, by the names in ``TUNABLE``."""
    return {
        name: getattr(after, name)
        for name in TUNABLE
        if getattr(after, name) != getattr(before, name)
    }


def in_words(before: Parameters, after: Parameters) -> str:
    """Return the changes in words: ``max_distance 3 -> 5, verify True -> False``."""
    found = (
        f"{name} {getattr(before, name)} -> {value}"
        for name, value in changes_between(before, after).items()
    )
    return ", ".join(found) or "as the settings have it"


@dataclass(frozen=True, slots=True)
class TuningReport:
    """The report of ``crawl-once tune``.

    Attributes:
        history: All parameters that ever held; the last ones hold.
        pages: Number of newest captures judged with each, in the same order.
    """

    history: tuple[Tuned, ...]
    pages: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``crawl-once tune --json``."""
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
    """Read the report from a crawl's database.

    Complexity: O(pages).
    """
    connection.execute("BEGIN")
    try:
        found = history(connection.execute)
        counts = choices_met(connection, "parameters", kept_only=False)
    finally:
        connection.execute("ROLLBACK")
    return TuningReport(tuple(found), tuple(counts.get(tuned.id, 0) for tuned in found))
