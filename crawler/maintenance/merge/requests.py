"""What all crawls have asked for, and what they were still to ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.queue import RequestQueue
from crawler.frontier.states import DONE, SKIPPED, TODO
from crawler.maintenance.verify.queue_checks import FLEET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.maintenance.merge.merged_crawls import Source
    from crawler.maintenance.verify.finding import Watch
    from crawler.storage.database import Database

# What a rule skipped counts as asked for: another request stood for it.
_SEEN = f"SELECT key, depth FROM requests WHERE state IN ({DONE}, {SKIPPED}) AND key IS NOT NULL"  # noqa: S608
_MARK = f"""
INSERT OR IGNORE INTO requests (state, tries, priority, depth, host, url, key, fixed, request)
VALUES ({DONE}, 0, 0, ?2, 0, '', ?1, 0, x'')
"""  # noqa: S608
_PAGES = f"""
INSERT OR IGNORE INTO requests (state, tries, priority, depth, host, url, key, fixed, request)
SELECT {DONE}, 0, 0, depth, 0, '', key, 0, x'' FROM pages
WHERE latest = 1 AND max(visit, seen_visit) = ?
"""  # noqa: S608
_WAITING = f"""
SELECT tries, priority, depth, host, url, key, fixed, request FROM requests
WHERE state NOT IN ({DONE}, {SKIPPED}) ORDER BY id
"""  # noqa: S608
_PUSH = f"""
INSERT OR IGNORE INTO requests (state, tries, priority, depth, host, url, key, fixed, request)
VALUES ({TODO}, ?, ?, ?, ?, ?, ?, ?, ?)
"""  # noqa: S608
_REDIRECTS = "SELECT key, url, target FROM redirects"


def merge_requests(database: Database, sources: Sequence[Source], visit: int, watch: Watch) -> None:
    """Take over what was seen, then what waits and no other crawl has asked for.

    What a worker of a fleet holds is lent to it: the fleet has it, or others fetched it.

    Complexity: O(requests * log requests).
    """
    database.write(_PAGES, (visit,))
    for source in sources:
        watch.begin(f"requests of {source.folder}", source.count("requests"))
        watch.advance(database.write_many(_MARK, source.connection.execute(_SEEN)))
        redirects = source.connection.execute(_REDIRECTS)
        database.write_many("INSERT OR IGNORE INTO redirects VALUES (?, ?, ?)", redirects)
        database.commit()
    for source in sources:
        if FLEET not in source.meta:
            database.write_many(_PUSH, source.connection.execute(_WAITING))
    RequestQueue(database).line_up()
    database.commit()
