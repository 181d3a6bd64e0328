"""Describe the state of a fleet for people on a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.filesize import decimal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.fleet.status import FleetStatus
    from crawler.frontier.redis.counts import Counts


def status_lines(status: FleetStatus, where: str) -> Iterator[str]:
    """Yield all lines of ``scrapy fleet``."""
    counts = status.counts
    yield f"fleet {status.name} at {where}: {status.identity.get('plan', '')}"
    yield f"  {_stands(counts)}, {status.notices.pages:,} pages fetched"
    yield (
        f"  {counts.seen:,} URLs seen, {counts.done:,} requests done, {counts.failed:,} broke, "
        f"{counts.parked:,} skipped by learned rules"
    )
    yield f"  {counts.hosts:,} hosts in line, asked or resting"
    yield f"  {decimal(status.memory_bytes)} of memory used by that Redis"
    yield ""
    yield f"{len(status.workers):,} workers:" if status.workers else "no worker"
    for name, held in status.workers.items():
        yield f"  {name:<32} {held.leased:>6,} requests, {held.hosts:>5,} hosts"
    if status.notices.parameters:
        yield ""
        yield f"judged by ({status.notices.origin}):"
        for name, value in json.loads(status.notices.parameters).items():
            yield f"  {name:<18} {value}"
    if status.rules:
        yield ""
        yield f"learned URL rules that hold: {len(status.rules):,}"


def _stands(counts: Counts) -> str:
    queued = counts.waiting + counts.leased
    return "finished" if counts.is_finished else f"{queued:,} queued, {counts.leased:,} under way"
