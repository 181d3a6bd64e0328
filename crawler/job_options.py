"""The options of a crawl."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.frontier.pauses import PausePolicy
from crawler.pages.url_history import IntervalPolicy
from crawler.reading.reading_options import ReadingOptions
from neardup import Parameters

if TYPE_CHECKING:
    from crawler.url_rules.learning.hypothesis import LearningPolicy


@dataclass(frozen=True, slots=True)
class JobOptions:
    """The options of a crawl, read from its settings."""

    parameters: Parameters = field(default_factory=Parameters)
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    obey_robots_meta: bool = True
    disabled_url_rules: tuple[str, ...] = ()
    keep_versions: int = 2
    keep_near_texts: bool = True
    intervals: IntervalPolicy = field(default_factory=IntervalPolicy)
    pauses: PausePolicy = field(default_factory=PausePolicy)
    learning: LearningPolicy | None = None
    """The conditions on which a learned URL rule is believed; None learns and skips nothing."""
