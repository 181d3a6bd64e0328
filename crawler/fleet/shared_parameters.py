"""Parameters of verdicts, one for all workers: whoever tunes one worker tunes the fleet."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawler.pages.chosen_parameters import in_words
from crawler.pages.live_parameters import add, from_json, to_json
from neardup import ParameterError

if TYPE_CHECKING:
    from crawler.fleet.board import Board, Notices
    from crawler.pages.capture import Archivist
    from crawler.storage.database import Database

logger = logging.getLogger(__name__)


class SharedParameters:
    """Carries parameters between ``crawl.db``, where they are tuned, and the fleet's board.

    Args:
        database: That of the worker.
        archivist: Judges by what held when the crawl was opened.
        board: That of the fleet.
    """

    def __init__(self, database: Database, archivist: Archivist, board: Board) -> None:
        self._database = database
        self._archivist = archivist
        self._board = board
        self._version = 0
        self._told = archivist.tuned.id

    async def offer(self) -> None:
        """Let what holds here hold in the fleet, unless something does already."""
        tuned = self._archivist.tuned
        chosen = to_json(tuned.parameters)
        await self._board.write_parameters(chosen, tuned.origin, tuned.since, is_first=True)

    async def tell(self) -> None:
        """Let hold in the fleet what this worker was tuned to."""
        tuned = self._archivist.tuned
        if tuned.id != self._told:
            chosen = to_json(tuned.parameters)
            self._version = await self._board.write_parameters(chosen, tuned.origin, tuned.since)
            self._told = tuned.id

    def hear(self, notices: Notices) -> None:
        """Judge as the fleet does from now on."""
        held = self._archivist.tuned
        # What was tuned here and is not told yet is newer than what is heard.
        if notices.parameters_version == self._version or held.id != self._told:
            return
        self._version = notices.parameters_version
        try:
            wanted = from_json(notices.parameters)
            if wanted == held.parameters:
                return
            tuned = add(self._database.write, wanted, notices.origin)
            self._archivist.tune(tuned)
        except (AttributeError, KeyError, ParameterError, TypeError, ValueError) as error:
            logger.warning("pages are judged as before: %s", error)
            return
        self._told = tuned.id
        changes = in_words(held.parameters, wanted)
        logger.warning("pages from now on are judged as the fleet does: %s", changes)
