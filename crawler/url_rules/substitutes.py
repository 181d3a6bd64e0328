"""Put skipped requests back into the queue where those that stood for them gave no page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.order import host_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.rule_state import RuleState


class Substitutes:
    """Puts skipped requests back into the queue where those that stood for them gave no page."""

    def __init__(self, state: RuleState) -> None:
        self._state = state
        self._rules = state.rules
        self._skipped = state.skipped
        self._groups = state.groups
        self._addresses = state.addresses

    def replace_each(self, urls: Iterable[str]) -> None:
        """Replace some requests by others; one for several that are the same after the rules."""
        groups: dict[Address, tuple[Address, str]] = {}
        for url in urls:
            address = self._addresses.learnable(url)
            if address is not None and address.host in self._rules:
                groups.setdefault(self._rules.apply(address), (address, url))
        for address, url in groups.values():
            self._replace(address, self._state.canonical.key(url))

    def _replace(self, address: Address, key: bytes) -> None:
        """Put one request back that was skipped because of one that gave no page.

        Where none was skipped yet, the next one that is met is queued.
        """
        group = self._rules.apply(address).digest()
        self._groups.claim(group, host_number(address.hostname), key)
        self._groups.note_failure(group, self._state.visit)
        known = self._groups.get(group)
        if known is not None and known.wants_another and self._skipped.put_one_back(group):
            self._groups.note_try(group)

    def note_redirected(self, urls: Sequence[str], after_rules: Address | None) -> None:
        """Replace requests that were redirected elsewhere: to a login perhaps, or the home page.

        Args:
            urls: URLs from which a page was reached.
            after_rules: Its address after the rules; None where there is no page.
        """
        addresses = [(url, self._addresses.learnable(url)) for url in urls]
        self.replace_each(
            url
            for url, one in addresses
            if one is not None and self._rules.apply(one) != after_rules
        )

    def note_filtered_redirect(self, sources: Sequence[str], target: str) -> None:
        """Replace requests that were redirected to a URL which was requested already.

        If that request was only skipped because of one of these, it is itself the replacement.
        """
        one, others = self._addresses.learnable(target), []
        for url in sources:
            address = self._addresses.learnable(url)
            if (
                one is None
                or address is None
                or self._rules.apply(address) != self._rules.apply(one)
            ):
                others.append(url)
            else:
                self._skipped.put_key_back(self._state.canonical.key(target))
        self.replace_each(others)
