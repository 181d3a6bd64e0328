"""Where seeds were redirected to: it moves the scope of a crawl, at all workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.fleet.board import Board, Notices
    from crawler.job import Job


class MovedSeeds:
    """Carries them between ``crawl.db`` and the fleet's board.

    They are told before the links of their pages, and heard after a lease and before its
    pages are fetched: no worker takes a link for one that is out of scope.
    """

    def __init__(self, job: Job, board: Board) -> None:
        self._job = job
        self._board = board
        self._version = 0
        self._known: dict[str, str] = {}

    async def tell(self) -> None:
        """Tell of those that this worker met."""
        for seed, target in self._job.notes.moved_seeds().items():
            if seed not in self._known:
                await self._board.write_moved(seed, target)
                self._known[seed] = target

    async def hear(self, notices: Notices) -> None:
        """Take over those that the others met."""
        if notices.moved_version == self._version:
            return
        for seed, target in (await self._board.moved()).items():
            if self._known.get(seed) != target:
                self._known[seed] = target
                self._job.notes.take_moved_seed(seed, target)
        self._version = notices.moved_version
