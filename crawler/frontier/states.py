"""The states of a request in the queue's table."""

from __future__ import annotations

TODO, LEASED, DONE, FAILED, SKIPPED = range(5)
