"""Receives the progress of what ``crawler.maintenance`` does, and shows nothing."""


class NoWatch:
    def begin(self, what: str, total: int) -> None:
        """Do nothing."""

    def advance(self, steps: int = 1) -> None:
        """Do nothing."""
