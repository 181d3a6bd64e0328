"""A running crawl hears what it was tuned to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawler.pages.chosen_parameters import in_words
from crawler.pages.live_parameters import newest
from crawler.storage.errors import JobError
from neardup import ParameterError

if TYPE_CHECKING:
    from crawler.pages.capture import Archivist
    from crawler.pages.live_parameters import Tuned
    from crawler.storage.database import Database

logger = logging.getLogger(__name__)


class Takeover:
    """Hands parameters that somebody else wrote into ``crawl.db`` to who judges the pages.

    Args:
        database: That of the running crawl.
        archivist: Judges by what held when the crawl was opened.
    """

    def __init__(self, database: Database, archivist: Archivist) -> None:
        self._database = database
        self._archivist = archivist
        self._seen = -1

    def look(self) -> None:
        """Take over what is new; to be called often, and right after a commit of the crawl's own.

        Commits of others can be seen only between its own. Nothing is read where there was none.
        """
        version = self._database.data_version
        if version == self._seen:
            return
        self._seen = version
        try:
            tuned = newest(self._database.read)
            if tuned is not None and tuned.id != self._archivist.tuned.id:
                self._take_over(tuned)
        except (JobError, ParameterError) as error:  # a crawl does not end for it
            logger.warning("pages are judged as before: %s", error)

    def _take_over(self, tuned: Tuned) -> None:
        before = self._archivist.tuned
        self._archivist.tune(tuned)
        changes = in_words(before.parameters, tuned.parameters)
        logger.warning("pages from now on are judged by other parameters: %s", changes)
