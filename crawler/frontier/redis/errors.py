"""The errors of a fleet.

FleetError
"""

from __future__ import annotations


class FleetError(Exception):
    """A worker cannot join the fleet; the message says why and what to do."""
