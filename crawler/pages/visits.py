"""Choose the pages of a visit: those that it finds, all that are known, or those that are due."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.pages.url_history import LATER, SETTLED
from crawler.storage import meta_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crawler.frontier.seen import SeenSet
    from crawler.pages.page_row import StoredUrl
    from crawler.pages.page_store import PageStore
    from crawler.pages.url_history import KnownUrls
    from crawler.storage.database import Database

MAX_NO_ROBOTS = 20
"""Store at most this many hosts for each reason."""

MAX_LATE_COOKIES = 1_000
"""Store at most this many domains whose pages are asked again."""

NO = "no"
YES = "yes"
DUE = "due"
FAILED = "failed"


class Outlook(NamedTuple):
    """The size of the visit that is under way.

    Attributes:
        expected: URLs that it has to ask for, as far as they are known; 0 where nothing is.
        before: Answers in all visits before it.
    """

    expected: int
    before: float


class VisitNotes:
    """The redirects of seeds, and the number of sitemaps requested, in ``meta``.

    Args:
        database: The crawl's database.

    Attributes:
        followed_again: The last capture that was looked at again; None where none is left to look
            at.
        after_moved_seed: Functions called with each seed, and its target, that another crawl of
            the same fleet met.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.after_moved_seed: list[Callable[[str, str], None]] = []
        stored = database.meta(meta_names.FOLLOWED_AGAIN)
        self.followed_again = int(stored) if stored else None
        self.asks_passing = database.meta(meta_names.PASSING) == "1"

    def _noted(self, name: str) -> dict[str, Any]:
        return dict(json.loads(self._database.meta(name) or "{}"))

    def _note(self, name: str, found: Mapping[str, Any]) -> None:
        self._database.set_meta(name, json.dumps(found))

    def begin_visit(self) -> None:
        """Begin another visit; seeds stay moved."""
        self._database.set_meta(meta_names.SITEMAPS, "0")
        for name in (meta_names.NO_ROBOTS, meta_names.CUT_LISTS, meta_names.LATE_COOKIES):
            self._note(name, {})

    def begin_plan(self) -> None:
        self._note(meta_names.MOVED_SEEDS, {})
        self.note_followed_again(None)

    def moved_seeds(self) -> dict[str, str]:
        return self._noted(meta_names.MOVED_SEEDS)

    def note_moved_seed(self, seed: str, target: str) -> None:
        """Store the redirect of a seed for a resumed crawl."""
        self._note(meta_names.MOVED_SEEDS, {**self.moved_seeds(), seed: target})

    def take_moved_seed(self, seed: str, target: str) -> None:
        """Store the redirect of a seed that another crawl of the fleet met."""
        self.note_moved_seed(seed, target)
        for act in self.after_moved_seed:
            act(seed, target)

    @property
    def is_following_again(self) -> bool:
        """Whether stored pages are still to be looked at for links that were not followed."""
        return self.followed_again is not None

    def follow_from(self, page_id: int) -> None:
        """Let the links of a stored page, and of all after it, be looked at again."""
        if self.followed_again is None or page_id <= self.followed_again:
            self.note_followed_again(page_id - 1)

    def note_followed_again(self, page_id: int | None) -> None:
        """Note how far stored pages were looked at for links that were not followed."""
        if page_id != self.followed_again:
            self._database.set_meta(
                meta_names.FOLLOWED_AGAIN, "" if page_id is None else str(page_id)
            )
            self.followed_again = page_id

    def note_no_robots(self, host: str, reason: str) -> None:
        """Note that a host has no robots.txt, so that nothing is forbidden there."""
        found = self._noted(meta_names.NO_ROBOTS)
        hosts = found.setdefault(reason, [])
        if host not in hosts and len(hosts) < MAX_NO_ROBOTS:
            hosts.append(host)
            self._note(meta_names.NO_ROBOTS, found)

    @property
    def late_cookies(self) -> frozenset[str]:
        """Domains with a cookie that pages were asked without, and not asked again since."""
        return frozenset(self._noted(meta_names.LATE_COOKIES))

    def note_late_cookie(self, domain: str) -> None:
        """Store that a site set a cookie after its pages were asked for without it."""
        found = self._noted(meta_names.LATE_COOKIES)
        if domain not in found and len(found) < MAX_LATE_COOKIES:
            self._note(meta_names.LATE_COOKIES, {**found, domain: 1})

    def forget_late_cookies(self) -> None:
        self._note(meta_names.LATE_COOKIES, {})

    def note_passing(self, *, asks: bool) -> None:
        """Store whether answers that may have come for a while are still to be asked for again."""
        if asks != self.asks_passing:
            self._database.set_meta(meta_names.PASSING, "1" if asks else "")
            self.asks_passing = asks

    def note_cut_list(self, url: str, kind: str) -> None:
        """Store that a sitemap, a feed or the like lists URLs out of scope."""
        found = self._noted(meta_names.CUT_LISTS)
        if url not in found:
            self._note(meta_names.CUT_LISTS, {**found, url: kind})

    def take_cut_lists(self) -> dict[str, str]:
        """Return the lists with URLs out of scope, with their kinds of links, and forget them."""
        found = self._noted(meta_names.CUT_LISTS)
        if found:
            self._note(meta_names.CUT_LISTS, {})
        return found

    @property
    def sitemaps(self) -> int:
        """Number of sitemaps requested in this visit, also by earlier processes."""
        return int(self._database.meta(meta_names.SITEMAPS) or 0)

    def count_sitemap(self) -> int:
        """Count another sitemap that is requested; return the new number."""
        count = self.sitemaps + 1
        self._database.set_meta(meta_names.SITEMAPS, str(count))
        return count


class Visits:
    """The number and the plan of the visit, and whether known pages are still to queue.

    All of it is in ``meta``.

    Args:
        database: The crawl's database.
        store: The pages that are known.
        known: The times at which they are due.
        seen: The URLs queued in this visit.

    Attributes:
        number: Number of the visit, 0 before the first one.
        notes: Redirects of seeds, and sitemaps.
        cookies: Hosts that get no cookies, since their pages need none.
        known: The times at which known pages are due.
    """

    def __init__(
        self, database: Database, store: PageStore, known: KnownUrls, seen: SeenSet
    ) -> None:
        # Arguments are checked without it.
        from crawler.pages.needless_cookies import NeedlessCookies  # noqa: PLC0415

        self._database = database
        self._store = store
        self._seen = seen
        self.known = known
        self.notes = VisitNotes(database)
        self.cookies = NeedlessCookies(database)
        self.number = int(database.meta(meta_names.VISIT) or 0)

    @property
    def plan(self) -> str | None:
        return self._database.meta(meta_names.PLAN)

    @property
    def scopes(self) -> list[str]:
        """The scopes that were crawled into the directory, in the order in which they came."""
        return list(json.loads(self._database.meta(meta_names.SCOPES) or "[]"))

    def note_scope(self, scope: str) -> None:
        """Remember a scope that is crawled into the directory."""
        if scope and scope not in (scopes := self.scopes):
            self._database.set_meta(meta_names.SCOPES, json.dumps([*scopes, scope]))

    def note_arguments(self, arguments: Mapping[str, str]) -> None:
        """Remember the arguments of a crawl for its next visits."""
        self._database.set_meta(meta_names.ARGUMENTS, json.dumps(dict(arguments)))

    def begin_plan(self, plan: str) -> None:
        self._database.set_meta(meta_names.PLAN, plan)
        self.notes.begin_plan()

    def is_known(self, key: bytes) -> bool:
        """Return whether an earlier visit knows a page, so that this one must fetch it too."""
        return self.number > 1 and key in self.known

    def expected(self, revisit: str) -> int:
        """Return how many known URLs a visit that is about to begin asks for.

        Complexity: O(URLs) for a visit of known URLs.
        """
        if revisit == FAILED:
            return self.known.failed()
        if revisit in {YES, DUE}:
            agenda = self.known.agenda(time.time())
            return agenda.due + (agenda.later if revisit == YES else 0)
        return 0

    def note_outlook(self, outlook: Outlook) -> None:
        self._database.set_meta(meta_names.OUTLOOK, json.dumps(outlook))

    @property
    def outlook(self) -> Outlook:
        """The size of this visit, as it was known when it began."""
        return Outlook(*json.loads(self._database.meta(meta_names.OUTLOOK) or "[0, 0]"))

    @property
    def asks_with_cookies(self) -> bool:
        """Whether what came without cookies is to be asked for again in the end."""
        return bool(self.notes.late_cookies or self.cookies.due)

    @property
    def is_queueing(self) -> bool:
        return self._database.meta(meta_names.QUEUEING) == "1"

    @property
    def has_queued(self) -> bool:
        """Whether this visit has queued every known page that it requests, perhaps none."""
        return self._database.meta(meta_names.QUEUEING) == "0"

    @property
    def has_todays_plan(self) -> bool:
        """Whether this visit was begun with the plan of today."""
        return self._database.meta(meta_names.VISIT_PLAN) == (self.plan or "")

    def end(self) -> None:
        """Store what became of URLs that only redirected, before their redirects are removed."""
        self.known.note_redirects(self.number, time.time())

    def begin(self, revisit: str) -> None:
        """Begin another visit, after the queue and the seen set were cleared.

        With ``due``, pages that are not due count as queued before: no link leads to them. With
        ``failed``, so do pages that have not failed.
        """
        self.number += 1
        revisit = revisit if self.number > 1 else NO
        if revisit == DUE:
            self._seen.add_selected(LATER, (time.time(),))
        elif revisit == FAILED:
            self._seen.add_selected(SETTLED, ())
        self._database.set_meta(meta_names.VISIT, str(self.number))
        self._database.set_meta(meta_names.QUEUEING, "1" if revisit != NO else "")
        self._database.set_meta(meta_names.VISIT_PLAN, self.plan or "")
        self.notes.begin_visit()

    def unasked(self) -> Iterator[StoredUrl]:
        """Yield the known URLs that this visit has not queued, in the order of discovery.

        It is safe beside writes: a page that is captured meanwhile was queued.
        """
        return (url for url in self._store.urls() if url.key not in self._seen)

    def end_queueing(self) -> None:
        """Note that every known page was queued, or is not to be."""
        self._database.set_meta(meta_names.QUEUEING, "0")
