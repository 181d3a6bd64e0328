"""Keep what is known of one host: its hypotheses, and the pages that they are tried on."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.canonicals import Canonicals, Declaration
from crawler.url_rules.learning.evidence import agreement
from crawler.url_rules.learning.proposals import propose
from crawler.url_rules.learning.transforms import parts
from crawler.url_rules.learning.versions import Versions, differences
from crawler.urls.path_patterns import PathPatterns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawler.url_rules.learning.canonicals import UntrustedHost
    from crawler.url_rules.learning.evidence import PageContent
    from crawler.url_rules.learning.hypothesis import Hypothesis, Observation, Refuted
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform

WINDOW = 400
"""Pages of a host that a new hypothesis is tried on at once."""

_MAX_ALIKE = 6


@dataclass(slots=True)
class LearnedHost:
    """The hypotheses about one host, and the pages that they are tried on.

    Attributes:
        across_domains: Whether hosts of another registered domain may be the same.
        canonicals: What its pages declare as canonical; None where that counts for nothing.
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
    canonicals: Canonicals | None = field(default_factory=Canonicals)
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

    def named(self, url: str | None) -> Address | None:
        """Return an address that a page declares as canonical; None where it counts for nothing."""
        if url is None or self.canonicals is None:
            return None
        address = Address.parse(url)
        return address if address.is_learnable else None

    def judge(
        self, seen: Observation, named: Address, there: PageContent | None
    ) -> UntrustedHost | None:
        """Judge whether a page declares a URL of its own text.

        Args:
            seen: The page.
            named: The address that it declares as canonical, after the rules that hold.
            there: The content of the page at that address, if it was fetched.

        Returns:
            The evidence where what pages declare as canonical counts for nothing from now on.
        """
        if self.canonicals is None or not seen.content.counts:
            return None
        is_its_text = None if there is None else agreement(there, seen.content)
        said = Declaration(seen.raw, named, seen.content.kept, is_its_text)
        untrusted = self.canonicals.note(said)
        if untrusted is not None:
            self.distrust_canonicals()
        return untrusted

    def distrust_canonicals(self) -> None:
        """Let what pages declare as canonical count for nothing from now on."""
        self.canonicals = None
        for hypothesis in self.hypotheses.values():
            hypothesis.evidence.distrust_canonicals()

    def trust_canonicals(self) -> None:
        """Judge anew what pages declare as canonical."""
        self.canonicals = Canonicals()
        for hypothesis in self.hypotheses.values():
            hypothesis.evidence.trusts_canonicals = True

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
