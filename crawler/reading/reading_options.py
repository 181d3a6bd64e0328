"""Define the user's options for reading."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from neardup import Parameters

_MIN_COUNT = {
    "workers": 0,
    # A worker takes half of it before the first page.
    "memory_limit_mb": 128,
    "max_links": 0,
    "max_url_length": 1,
    "recycle_pages": 1,
    "recycle_growth_mb": 0,
}


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Options for reading pages.

    Attributes:
        workers: Number of processes; 0 means one a core.
        timeout_secs: Time that a worker may use for one page, as ``Allowance`` counts it.
        memory_limit_mb: Memory that one worker may use.
        max_links: Maximum number of distinct links of one page.
        max_url_length: Maximum length of a link in characters; longer ones are only counted.
        keep_html: Whether readings carry the body, compressed.
        disabled_url_rules: Names of rules that the keys of links do without.
        parameters: Parameters of the comparison of texts.
        recycle_pages: Number of pages after which a worker that has grown is replaced.
        recycle_growth_mb: Growth beyond which it is replaced: glibc and Python do not free all
            memory.

    Raises:
        ValueError: A value is outside its range.
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
