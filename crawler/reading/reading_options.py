"""What the user chose about reading."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from neardup import Parameters

_MIN_COUNT = {
    "workers": 0,
    # Half of it is taken before the first page.
    "memory_limit_mb": 128,
    "max_links": 0,
    "max_url_length": 1,
    "recycle_pages": 1,
    "recycle_growth_mb": 0,
}


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How pages are read.

    Attributes:
        workers: Processes; 0 means one a core.
        timeout_secs: Time that a worker may use for one page, as ``Allowance`` counts it.
        memory_limit_mb: Memory that one worker may use.
        max_links: Distinct links taken from one page.
        max_url_length: Characters of a link; longer ones are counted and left out.
        keep_html: Whether readings carry the body, compressed.
        disabled_url_rules: Rules that the keys of links do without.
        parameters: How texts are compared.
        recycle_pages: After so many pages a worker that has grown is replaced,
        recycle_growth_mb: that is, by more than this. glibc and Python keep some of what they free.

    Raises:
        ValueError: A value outside its range.
    """

    workers: int = 0
    timeout_secs: float = 20.0
    memory_limit_mb: int = 1024
    max_links: int = 100_000
    max_url_length: int = 8192
    keep_html: bool = False
    disabled_url_rules: tuple[str, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    recycle_pages: int = 2000
    recycle_growth_mb: int = 256

    def __post_init__(self) -> None:
        for name, least in _MIN_COUNT.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if not self.timeout_secs > 0:
            raise ValueError(f"timeout_secs must be above 0, got {self.timeout_secs}")

    @property
    def size(self) -> int:
        """The number of workers."""
        return self.workers or os.cpu_count() or 1
