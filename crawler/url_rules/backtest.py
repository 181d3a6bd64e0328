"""Back-test a rule on the pages of its hosts that were fetched, before it holds."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from crawler.frontier.order import host_number
from crawler.pages.verdicts import NOT_HTML, SAME_TEMPLATE
from crawler.storage.states import DONE, LEASED, UNFINISHED
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.evidence import CounterExample, PageContent, agreement
from crawler.url_rules.learning.hypothesis import MAX_EXCEPTIONS
from crawler.url_rules.learning.transforms import about
from crawler.url_rules.url_groups import is_told_by_url, number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.url_rules.learning.context import Context
    from crawler.url_rules.learning.hypothesis import Hypothesis
    from crawler.url_rules.rule_state import RuleState

MAX_RECALLED = 5_000
"""Compare at most this many pages of a host at once, the newest ones: some 50 us each.

Older ones are compared when the queue is regrouped.
"""

# A partial index is used only if the query has the very words of its condition.
_REQUESTS = {
    "requests_unfinished": f"requests.state IN ({UNFINISHED}) AND requests.state = {LEASED}",
    "requests_of_host": f"requests.url != '' AND requests.state = {DONE}",
}
_PAGES = [
    f"""
SELECT pages.canonical_url, coalesce(iif(words AND verdict <> '{SAME_TEMPLATE}', words_digest,
       pages.text_digest), payload_digest), duplicate_of, elsewhere.url, similarity, pages.id,
       links, reason
FROM requests INDEXED BY {index} JOIN pages ON pages.key = requests.key AND latest = 1
LEFT JOIN elsewhere ON elsewhere.page = pages.id
WHERE host = ? AND {condition} AND max(visit, seen_visit) = ?
  AND (text IS NOT NULL OR duplicate_of IS NOT NULL OR elsewhere.page IS NOT NULL
       OR (verdict = '{NOT_HTML}' AND body_bytes))
ORDER BY requests.id DESC LIMIT ?
"""  # noqa: S608
    for index, condition in _REQUESTS.items()
]


class _Page(NamedTuple):
    """A page at its address after the rules that hold."""

    place: Address
    content: PageContent


class History:
    """The pages of this visit."""

    def __init__(self, state: RuleState) -> None:
        self._state = state

    def recall(self, hypothesis: Hypothesis) -> None:
        """Show a hypothesis the pages that differ although it would make them one.

        It may be refuted by them, or get exceptions.

        Complexity: O(pages of its hosts), ``MAX_RECALLED`` of each at most.
        """
        self._state.queue.write()
        pages = [page for host in hypothesis.hosts for page in self._pages(host)]
        for _ in range(MAX_EXCEPTIONS + 1):  # each exception leaves other pages together
            if not self._objects(hypothesis, pages) or hypothesis.refuted is not None:
                return

    def _objects(self, hypothesis: Hypothesis, pages: list[_Page]) -> bool:
        """Show a rule two different pages that it makes one; return whether there are any."""
        first: dict[Address, _Page] = {}
        for page in pages:
            other = first.setdefault(hypothesis.applied(page.place), page)
            if other.place == page.place:
                continue  # they are one without it
            if agreement(other.content, page.content) is False:
                changed = other if hypothesis.applied(page.place) == page.place else page
                example = CounterExample(page.content.page, other.content.page)
                hypothesis.object(self._kind(hypothesis, changed.place), example)
                return True
        return False

    def _kind(self, hypothesis: Hypothesis, place: Address) -> Context:
        pattern = self._state.learner.pattern_of(place)
        return hypothesis.context.at(place, pattern, about(hypothesis.transform))

    def _pages(self, host: str) -> Iterator[_Page]:
        state = self._state
        number = host_number(Address.parse(f"http://{host}/").hostname)
        rows = chain.from_iterable(
            state.database.read(sql, (number, state.visit, MAX_RECALLED)).fetchall()
            for sql in _PAGES
        )
        for url, words, duplicate_of, kept_url, similarity, page, links, reason in rows:
            address = Address.parse(url)
            if address.host != host or not address.is_learnable or is_told_by_url(reason):
                continue
            kept, alike = page, 1.0
            if duplicate_of is not None or kept_url is not None:
                kept = number_of(kept_url) if duplicate_of is None else duplicate_of
                alike = similarity or 0.0
            yield _Page(
                state.rules.apply(address),
                PageContent(words, kept, alike, page, links),
            )
