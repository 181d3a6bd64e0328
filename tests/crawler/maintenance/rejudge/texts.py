"""Three texts: two that are near, one that is short."""

from __future__ import annotations

from tests.sites.prose import prose

LONG = prose("long", 200)
NEAR = f"{LONG} And a few words more."
SHORT = prose("short", 30)
