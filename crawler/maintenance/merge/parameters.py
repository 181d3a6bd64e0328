"""With which parameters the verdicts of all crawls were made, as one history."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.maintenance.merge.merged_crawls import Source
    from crawler.storage.database import Database


def merge_parameters(database: Database, sources: Iterable[Source]) -> dict[tuple[int, int], int]:
    """Copy them in the order of time, what one crawl took over from another once.

    Returns:
        Their new ids, by number of the source and old id.
    """
    rows = sorted(
        (since, source.number, old, origin, chosen)
        for source in sources
        for old, since, origin, chosen in source.connection.execute(
            "SELECT id, since, origin, chosen FROM parameters"
        )
    )
    found: dict[tuple[int, int], int] = {}
    last, number = None, 0
    for since, source_number, old, origin, chosen in rows:
        if chosen != last:
            number += 1
            row = (number, since, origin, chosen)
            database.write("INSERT INTO parameters VALUES (?, ?, ?, ?)", row)
        found[source_number, old] = number
        last = chosen
    return found
