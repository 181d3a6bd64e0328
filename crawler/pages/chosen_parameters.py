"""Which parameters hold when a crawl is opened: its settings', or what it was tuned to since."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.pages.live_parameters import SETTINGS, TUNABLE, Tuned, add, from_json, newest, to_json
from neardup import ParameterError

if TYPE_CHECKING:
    from crawler.storage.database import Database
    from neardup import Parameters

logger = logging.getLogger(__name__)

_META = "settings_parameters"
"""What the settings said when the crawl was last opened."""


def settle(database: Database, settings: Parameters) -> Tuned:
    """Say what holds from now on, and remember what the settings say.

    What a crawl was tuned to goes on holding, but for the settings that are other ones than when
    it was last opened: they win, since the user has changed them last.
    """
    held, remembered = newest(database.read), database.meta(_META)
    if to_json(settings) != remembered:
        database.set_meta(_META, to_json(settings))
    if held is None or remembered is None:
        return add(database.write, settings, SETTINGS)
    before = from_json(remembered)
    changed = _changes(before, settings)
    wanted = _with(held.parameters, changed, settings)
    if wanted == held.parameters:
        if _changes(settings, wanted):
            logger.warning("the crawl goes on as it was tuned: %s", in_words(settings, wanted))
        return held
    logger.warning("settings were changed and win: %s", in_words(held.parameters, wanted))
    return add(database.write, wanted, SETTINGS)


def _with(held: Parameters, changed: dict[str, object], settings: Parameters) -> Parameters:
    try:
        return replace(held, **changed)  # type: ignore[arg-type]  # names and values of Parameters
    except ParameterError:  # what was tuned does not go together with it; the settings' do
        return replace(settings, features=held.features)


def _changes(before: Parameters, after: Parameters) -> dict[str, object]:
    return {
        name: getattr(after, name)
        for name in TUNABLE
        if getattr(after, name) != getattr(before, name)
    }


def in_words(before: Parameters, after: Parameters) -> str:
    """What changes from one to the other: ``max_distance 3 -> 5, verify True -> False``."""
    found = (
        f"{name} {getattr(before, name)} -> {value}"
        for name, value in _changes(before, after).items()
    )
    return ", ".join(found) or "as the settings have it"
