"""Name the states of rows in the tables of ``crawl.db``.

SQL gets their numbers from here: formatted into the text of a statement, which the partial indexes
of ``requests`` need, or as a parameter.
"""

from __future__ import annotations

from enum import IntEnum


class RequestState(IntEnum):
    """The states of a request in the queue's table.

    Attributes:
        WAITING: It waits.
        LEASED: It is under way.
        DONE: It is through.
        FAILED: Its callback broke.
        SKIPPED: It is not made: by a rule, since another request stands for its page, or since its
            cluster is a closed trap.
    """

    WAITING = 0
    LEASED = 1
    DONE = 2
    FAILED = 3
    SKIPPED = 4


WAITING, LEASED, DONE, FAILED, SKIPPED = RequestState

UNFINISHED = f"{LEASED}, {FAILED}"
"""States, as SQL lists them, of requests that the next process returns to the queue."""

QUEUED = f"{WAITING}, {LEASED}, {SKIPPED}"
"""States, as SQL lists them, of requests that are stored whole: they wait, or a rule skips them."""


class RuleStatus(IntEnum):
    """The states of a learned rule in the table ``url_rules``.

    Of two crawls that are merged, the higher state of a rule holds.

    Attributes:
        HOLDS: Requests are skipped by it.
        COVERED: It was not wrong, and another rule says the same of more pages, or of fewer.
        REVOKED: The pages of the site proved it wrong.
        FORGOTTEN: The user forgot it.
    """

    HOLDS = 1
    COVERED = 2
    REVOKED = 3
    FORGOTTEN = 4


HOLDS, COVERED, REVOKED, FORGOTTEN = RuleStatus


class SpellingState(IntEnum):
    """The states of another spelling of a URL in the table ``spellings``.

    Attributes:
        KNOWN: It was met and never requested.
        ASKED: It is queued, under way or gave a page.
        FAILED: It gave no page.
    """

    KNOWN = 0
    ASKED = 1
    FAILED = 2


class VariantState(IntEnum):
    """The states of a URL in the table ``variants``.

    Attributes:
        FIRST: It was requested as the page of its key.
        SKIPPED: It is not requested: a fixed rule takes it for one that was.
        TRIED: It was requested to try the rule, and not compared yet.
        SEPARATE: It is a page of its own, under its own key.
    """

    FIRST = 0
    SKIPPED = 1
    TRIED = 2
    SEPARATE = 3


PAGE = "page"
"""The kind of a text that a user declared to be no wall; it is never suspected again."""

HASH_BYTES = 4
"""Bytes of each hash of ``wall_clusters``."""
