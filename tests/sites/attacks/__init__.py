"""Attacks by path: answers made to cost a crawler its time, its memory or its other pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.attacks import bombs, heads, hosts, markup, streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

ATTACKS: dict[str, Callable[[Exchange], None]] = {
    **bombs.ATTACKS,
    **heads.ATTACKS,
    **hosts.ATTACKS,
    **markup.ATTACKS,
    **streams.ATTACKS,
}
