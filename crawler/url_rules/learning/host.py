"""What is known of one host: its hypotheses, and the pages that they are tried on."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.url_rules.learning.proposals import propose
from crawler.url_rules.learning.versions import Versions
from crawler.urls.path_patterns import PathPatterns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.url_rules.learning.context import AddressInContext
    from crawler.url_rules.learning.hypothesis import Hypothesis, Observation, Refuted
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform

WINDOW = 400
"""Pages of a host that a new hypothesis is tried on at once."""

_MAX_ALIKE = 6


@dataclass(slots=True)
class LearnedHost:
    """The hypotheses about one host, and the pages that they are tried on."""

    patterns: PathPatterns = field(default_factory=PathPatterns)
    window: deque[Observation] = field(default_factory=lambda: deque(maxlen=WINDOW))
    alike: OrderedDict[int, deque[Observation]] = field(default_factory=OrderedDict)
    # No OrderedDict, which hashes each key again when it is iterated over.
    hypotheses: dict[Proposal, Hypothesis] = field(default_factory=dict)
    refuted: OrderedDict[Proposal, Refuted | None] = field(default_factory=OrderedDict)
    clusters: OrderedDict[int, int] = field(default_factory=OrderedDict)
    versions: Versions = field(default_factory=Versions)
    has_hopeless: bool = False

    def proposed(self, seen: Observation, other: AddressInContext) -> Iterator[Proposal]:
        """Yield the rules by which two addresses would be one, but those never to be believed."""
        if self.versions.tell_apart(seen.place.address, other.address):
            return
        for proposal in propose(seen.place, other, seen.pattern):
            if not self.versions.choose(proposal[1]):
                yield proposal

    def note_wrong(self, transform: Transform, texts: Collection[int]) -> None:
        """Note a rule that is wrong; it may leave others without hope."""
        self.has_hopeless |= self.versions.note(transform, texts)

    def drop_hopeless(self) -> None:
        """Remove the hypotheses that can never be believed: versions remain versions."""
        if not self.has_hopeless:
            return
        self.has_hopeless = False
        for proposal in list(self.hypotheses):
            if self.versions.choose(proposal[1]):
                del self.hypotheses[proposal]

    def remember(self, seen: Observation) -> None:
        """Keep a page for later hypotheses; of copies of one page only the last few are kept."""
        self.window.append(seen)
        copies = self.alike.pop(seen.content.kept, None) or deque(maxlen=_MAX_ALIKE)
        copies.append(seen)
        self.alike[seen.content.kept] = copies
        if len(self.alike) > WINDOW:
            self.alike.popitem(last=False)
