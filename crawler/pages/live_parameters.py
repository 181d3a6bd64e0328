"""With which parameters verdicts are made: the table ``parameters``, whose newest row holds."""

from __future__ import annotations

import difflib
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawler.storage.concurrent_write import beside
from crawler.storage.errors import JobError
from neardup import Features, ParameterError, Parameters

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
