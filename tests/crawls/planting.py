"""A method of the crawler that raises, for tests of what is told of that."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from crawler.lean_parts import ShownLogs

PLANTED = "PLANTED"
"""The environment variable with the method that raises: ``module:Class:name``."""


class PlantingLogs(ShownLogs):
    """What a crawl loads as its ``LOG_FORMATTER`` before its components."""


def _raise(*_: Any, **__: Any) -> None:
    raise RuntimeError("planted")


def _plant() -> None:
    module, owner, name = os.environ[PLANTED].split(":")
    found = getattr(import_module(module), owner)
    assert hasattr(found, name), name
    setattr(found, name, _raise)


if PLANTED in os.environ:
    _plant()
