"""URLs as the learned rules see them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.url_rules.learning.address import Address
from crawler.urls.errors import MalformedUrl

if TYPE_CHECKING:
    from crawler.url_rules.rule_set import RuleSet
    from crawler.url_rules.skipped import SkippedRequests
    from crawler.url_rules.url_groups import Fold
    from crawler.urls.canonical import Canonicalizer


class RuledAddresses:
    """From a URL to its address, and to that by which its page is known."""

    def __init__(
        self, canonicalizer: Canonicalizer, rules: RuleSet, skipped: SkippedRequests
    ) -> None:
        self._canonical = canonicalizer
        self._rules = rules
        self._skipped = skipped

    def parsed(self, url: str) -> Address | None:
        """The address of a URL; None where it is malformed."""
        with suppress(MalformedUrl):
            return Address.parse(self._canonical(url))
        return None

    def learnable(self, url: str) -> Address | None:
        """The address of a URL of which something may be learned."""
        address = self.parsed(url)
        return address if address is not None and address.is_learnable else None

    def folded(self, address: Address) -> Address:
        """By which the cluster of an address is known, also where no rule is learned of it."""
        return self._rules.fold(address) if address.is_learnable else address

    def standing(self, known: Fold) -> Address | None:
        """The address of the request that stands for others."""
        url = self._skipped.url(known.key)
        return None if url is None else self.learnable(url)
