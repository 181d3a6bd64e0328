"""Where the URL that was chosen gives no page, another one of the page is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.order import host_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.rule_state import RuleState


class Substitutes:
    """Puts skipped requests back that were skipped for the sake of others that came to nothing."""

    def __init__(self, state: RuleState) -> None:
        self._state = state
        self._rules = state.rules
        self._skipped = state.skipped
        self._folds = state.folds
        self._addresses = state.addresses

    def replace_each(self, urls: Iterable[str]) -> None:
        """Let others stand for some URLs; one for several that are the same after the rules."""
        folded: dict[Address, tuple[Address, str]] = {}
        for url in urls:
            address = self._addresses.learnable(url)
            if address is not None and address.host in self._rules:
                folded.setdefault(self._rules.fold(address), (address, url))
        for address, url in folded.values():
            self._replace(address, self._state.canonical.key(url))

    def _replace(self, address: Address, key: bytes) -> None:
        """Put one back that was skipped for the sake of a request that came to nothing.

        Where none was skipped yet, the next one that is met is queued.
        """
        fold = self._rules.fold(address).digest()
        self._folds.claim(fold, host_number(address.hostname), key)
        self._folds.note_failure(fold, self._state.visit)
        known = self._folds.get(fold)
        if known is not None and known.wants_another and self._skipped.put_one_back(fold):
            self._folds.note_try(fold)

    def note_redirected(self, urls: Sequence[str], folded: Address | None) -> None:
        """Let others stand for URLs that led elsewhere: to a login perhaps, or the home page.

        Args:
            urls: From which a page was reached.
            folded: Its address after the rules; None where there is no page.
        """
        addresses = [(url, self._addresses.learnable(url)) for url in urls]
        self.replace_each(
            url for url, one in addresses if one is not None and self._rules.fold(one) != folded
        )

    def note_filtered_redirect(self, sources: Sequence[str], target: str) -> None:
        """Let another request stand for a page whose own one led to what was asked for already.

        Where that was only skipped, for the sake of what leads there now, it is the other one.
        """
        one, others = self._addresses.learnable(target), []
        for url in sources:
            address = self._addresses.learnable(url)
            if one is None or address is None or self._rules.fold(address) != self._rules.fold(one):
                others.append(url)
            else:
                self._skipped.put_key_back(self._state.canonical.key(target))
        self.replace_each(others)
