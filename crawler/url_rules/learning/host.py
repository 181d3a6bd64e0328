"""Keep what is known of one host: its hypotheses, and the pages that they are tried on."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.proposals import propose
from crawler.url_rules.learning.transforms import parts
from crawler.url_rules.learning.versions import Versions, differences
from crawler.urls.path_patterns import PathPatterns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawler.url_rules.learning.hypothesis import Hypothesis, Observation, Refuted
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform

WINDOW = 400
"""Pages of a host that a new hypothesis is tried on at once."""

_MAX_ALIKE = 6  # copies of one page, the last ones


@dataclass(slots=True)
class LearnedHost:
    """The hypotheses about one host, and the pages that they are tried on.

    Attributes:
        across_domains: Whether hosts of another registered domain may be the same.
    """

    across_domains: bool = False
    patterns: PathPatterns = field(default_factory=PathPatterns)
    window: deque[Observation] = field(default_factory=lambda: deque(maxlen=WINDOW))
    alike: OrderedDict[int, deque[Observation]] = field(default_factory=OrderedDict)
    # No OrderedDict, which hashes each key again when it is iterated over.
    hypotheses: dict[Proposal, Hypothesis] = field(default_factory=dict)
    refuted: OrderedDict[Proposal, Refuted | None] = field(default_factory=OrderedDict)
    clusters: OrderedDict[int, int] = field(default_factory=OrderedDict)
    versions: Versions = field(default_factory=Versions)
    has_hopeless: bool = False

    def proposed(self, seen: Observation, other: Address) -> Iterator[Proposal]:
        """Yield the rules by which two addresses would be one, but those never to be believed."""
        if self.versions.tell_apart(seen.place, other):
            return
        across = self.across_domains
        for proposal in propose(seen.place, other, seen.pattern, across_domains=across):
            if not self.versions.choose(proposal[1]):
                yield proposal

    def is_wrong_in_part(self, proposal: Proposal) -> bool:
        """Return whether one of the rules as which a rule would hold was refuted."""
        context, transform = proposal
        return any((context, part) in self.refuted for part in parts(transform))

    def note_wrong(self, transform: Transform, texts: Collection[int]) -> None:
        """Note a rule that is wrong; it may leave others without hope."""
        self.has_hopeless |= self.versions.note(transform, texts)

    def note_translations(
        self, urls: Iterable[str], after_rules: Callable[[Address], Address], text: int
    ) -> None:
        """Note what tells the translations of a page apart; it may leave rules without hope."""
        addresses = [address for address in map(Address.parse, urls) if address.is_learnable]
        for found in differences(addresses, after_rules):
            self.has_hopeless |= self.versions.note_translations(found, text)

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

    def pages_for(self, hypothesis: Hypothesis) -> Iterator[Observation]:
        """Yield the pages that a rule changes, and those that it takes others for."""
        shapes, transform = hypothesis.shapes, hypothesis.transform
        changed, keys, pages = set(), set(), list(self.window)
        for place, seen in enumerate(pages):
            if shapes is None or shapes.fullmatch(seen.place.text):
                address = seen.place
                target = transform(address)
                if target is not address:
                    changed.add(place)
                    keys.add(hash(target))
        yield from (seen for at, seen in enumerate(pages) if at in changed or seen.key in keys)
