"""What stands for the learned rules where nothing is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.frontier.order import Load, Queue, QueuedRequest
    from crawler.pages.page_row import PageRow
    from crawler.url_rules.learning.proposals import Proposal


class NoUrlRules:
    """Queues every request, and learns nothing; else as ``crawler.url_rules.engine.UrlRules``.

    Args:
        queue: What waits.
        why: What it takes to learn rules, for who wants to use some.
    """

    is_busy = False
    is_folding = False
    is_comparing_depths = False
    is_unexamined = False

    def __init__(self, queue: Queue, why: str) -> None:
        self._queue = queue
        self._why = why

    def begin_visit(self, visit: int) -> None:
        """Nothing was learned in the last one."""

    def take(self, proposals: Iterable[Proposal], origin: str) -> int:
        """Refuse rules of another crawl.

        Raises:
            ValueError: Always.
        """
        raise ValueError(f"{origin}: URL rules can only be used with {self._why}")

    def push(  # noqa: PLR0913  # what a request consists of
        self,
        host: int,
        url: str,
        priority: int,
        request: Any,
        key: bytes | None,
        *,
        depth: int = 0,
        is_fixed: bool,
    ) -> bool:
        """Queue a request."""
        self._queue.push(host, url, priority, request, key, depth=depth, is_fixed=is_fixed)
        return True

    def lease(self, load: Load) -> QueuedRequest | None:
        """The next request."""
        return self._queue.lease(load)

    def take_shorter(self) -> list[tuple[str, int]]:
        """Nothing is skipped."""
        return []

    def fold_some(self) -> None:
        """Nothing is ever to fold."""

    def fold_all(self) -> bool:
        """Nothing is ever to fold."""
        return False

    @property
    def is_examining(self) -> bool:
        """There is nothing to try."""
        return False

    def try_more(self) -> bool:
        """There is nothing to try."""
        return False

    def observe(
        self, row: PageRow, kept_url: str | None = None, redirected: Sequence[str] = ()
    ) -> None:
        """Learn nothing from a page."""

    def note_filtered_redirect(self, sources: Sequence[str], target: str) -> None:
        """Nothing was skipped for the sake of what was redirected."""

    def note_failure(self, urls: Iterable[str]) -> None:
        """Nothing was skipped for the sake of what gave no page."""

    def save_refuted(self) -> None:
        """Nothing was looked at."""
