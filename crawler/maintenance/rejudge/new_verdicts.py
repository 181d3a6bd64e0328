"""Judge every newest capture again, in the order of the crawl, as the crawl itself would."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from zstandard import ZstdError

from crawler.maintenance.verify.finding import WAITS, QueueAgain
from crawler.pages.boilerplate import CountedBoilerplate, HostBoilerplate, is_counted
from crawler.pages.judge import is_better
from crawler.pages.page_row import COLUMNS, row_of, url_of
from crawler.pages.page_store import PUT_NEAR_TEXT, PageStore
from crawler.pages.reasons import Reason, without
from crawler.pages.stored_texts import HeldText, JudgedDocuments, find_text, unpack_judged
from crawler.pages.verdicts import (
    CHANGED,
    CONTAINED,
    EXACT_DUPLICATE,
    INEXACT,
    KEPT,
    NEAR_DUPLICATE,
    OF_TEXTS,
    SAME_TEMPLATE,
    TEXT_DUPLICATE,
    WALLS,
    listed,
)
from crawler.pages.wall_clusters import host_of
from crawler.reading.reading import extract_of
from crawler.storage.errors import DamagedTextError
from crawler.storage.schema import BOILERPLATE
from crawler.storage.states import PAGE
from neardup import Deduplicator, HammingIndex, Verdict
from neardup.boilerplate import block_hashes
from neardup.names import difference, unpacked
from neardup.storage.signatures import memory_passages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.live_parameters import Tuned
    from crawler.pages.page_row import PageRow
    from crawler.storage.database import Database
    from neardup import Document
    from neardup.boilerplate import Boilerplate

# Copies of a file that is no page have no text: is_main is NULL. Originals in other crawls stay.
JUDGED = (
    f"latest = 1 AND is_main IS NOT NULL AND verdict IN ({listed(OF_TEXTS)})"
    " AND id NOT IN (SELECT page FROM elsewhere)"
)
_BLOBS = frozenset({"text", "content", "html"})
_FACTS = ", ".join("NULL" if name in _BLOBS else name for name in COLUMNS)
_FREED = f"""
CREATE TEMP TABLE freed AS
SELECT page AS id FROM wall_pages JOIN wall_clusters ON wall_clusters.id = cluster
WHERE kind = '{PAGE}' OR cluster IN (SELECT value FROM json_each('{{}}'))
"""
_TO_JUDGE = (
    f"({JUDGED} OR latest = 1 AND is_main IS NOT NULL AND verdict IN ({listed(WALLS)})"
    " AND id IN (SELECT id FROM temp.freed))"
)
_PAGES = f"SELECT {_FACTS} FROM pages WHERE {_TO_JUDGE} AND id > ? ORDER BY id LIMIT 1000"
_PAGE = f"SELECT {_FACTS} FROM pages WHERE id = ?"
_REPEATING = """
SELECT id FROM pages WHERE latest = 1 AND duplicate_of IN (SELECT value FROM json_each(?))
"""

_NAME = f"""
UPDATE pages SET parameters = ?1
WHERE {JUDGED} AND parameters IS NOT ?1 AND text_digest IS NOT NULL
"""


# The facts of a page for learned URL rules: its original, and the similarity to it.
_GROUPS = f"""
UPDATE url_groups SET kept = coalesce(pages.duplicate_of, pages.id),
    words = coalesce(iif(pages.words AND verdict <> '{SAME_TEMPLATE}', words_digest, text_digest),
                     url_groups.words),
    similarity = CASE WHEN pages.duplicate_of IS NULL THEN 1.0
                 ELSE coalesce(pages.similarity, 0.0) END
FROM pages WHERE pages.id = url_groups.page AND url_groups.kept IS NOT NULL
    AND pages.is_main IS NOT NULL
"""


class Rejudge:
    """Judges the pages of a crawl directory, and writes their verdicts in an open transaction.

    The texts, and what the pages were before, are read as they were when the transaction began.

    Args:
        directory: Crawl directory; its connection reads what is committed.
        database: Its database, or a copy, for writing.
        tuned: Parameters of the new verdicts.
        freed: Numbers of walls whose pages are judged by their texts.

    Attributes:
        tuned: The parameters.
        awaited: Ids of the pages that can only be judged when they are fetched again.
        count: Number of pages that were judged.
        written: Ids of the pages whose rows were written.
    """

    def __init__(
        self,
        directory: CrawlDirectory,
        database: Database,
        tuned: Tuned,
        *,
        freed: Collection[int] = (),
    ) -> None:
        directory.connection.isolation_level = None  # no transaction begins or ends by itself
        self._before = directory.connection.execute
        self._database = database
        self._can_queue = directory.plan is not None
        self.tuned, self._parameters = tuned, tuned.parameters
        self._doubted: Collection[int] | None = None
        self._before("DROP TABLE IF EXISTS temp.freed")
        self._before(_FREED.format(json.dumps(list(freed))))

    def judge(self, watch: CheckWatch) -> None:
        """Judge all pages; those whose text is lost come last, judged by their stored facts.

        Where boilerplate counts, all pages are judged twice: first without it, to know which texts
        are to be counted, then with all of them counted. So no verdict depends on what was known of
        a host when a page came. The counts are in the temporary table ``host_blocks``.

        Complexity: O(size of the texts); memory for one of them, and that of the indexes of a crawl
        (``neardup.Deduplicator``).
        """
        self._before("DROP TABLE IF EXISTS temp.host_blocks")
        self._before(BOILERPLATE)  # it hides the table of the crawl
        self._before("BEGIN")
        counts = CountedBoilerplate(self._before, self._before)
        self._database.write("SAVEPOINT counted")
        self._judge_all(watch, counts=counts)
        counts.store()
        if counts.is_any_known and self._parameters.ignore_boilerplate:
            self._database.write("ROLLBACK TO counted")
            self._judge_all(watch, boilerplate=counts)
        self._end()

    def judge_doubted(self, watch: CheckWatch, doubted: Collection[int]) -> None:
        """Judge some pages and their duplicates again; all others are believed.

        A page that other parameters kept does not become a near-duplicate.
        """
        self._before("BEGIN")
        found = self._before(_REPEATING, (json.dumps(list(doubted)),))
        self._doubted = {*doubted, *(page_id for (page_id,) in found)}
        self._judge_all(watch, boilerplate=HostBoilerplate(self._before))
        self._end()

    def name_parameters(self) -> int:
        """Write the parameters into the rows of all judged pages; return how many had others."""
        return self._database.write(_NAME, (self.tuned.id,)).rowcount

    def pages(self) -> Iterator[PageRow]:
        """Yield the pages to judge as they were before, in their order."""
        last = -1
        while rows := self._before(_PAGES, (last,)).fetchall():
            yield from map(row_of, rows)
            last = rows[-1][0]

    def judged(self, page_id: int) -> PageRow:
        """Return a page as it is now."""
        return row_of(self._database.read(_PAGE, (page_id,)).fetchone())

    def _judge_all(
        self,
        watch: CheckWatch,
        *,
        boilerplate: Boilerplate | None = None,
        counts: CountedBoilerplate | None = None,
    ) -> None:
        sql = f"SELECT count(*) FROM pages WHERE {_TO_JUDGE}"
        watch.begin("pages judged again", int(self._before(sql).fetchone()[0]))
        self._store = PageStore(self._database)
        self._documents = JudgedDocuments(self._store)
        self.awaited = set[int]()
        self.written = set[int]()
        self.count = 0
        parameters = self._parameters
        index = HammingIndex(radius=parameters.max_distance)
        passages = memory_passages(parameters.verify_shingle_size)
        unheld: list[int] = []
        with Deduplicator(
            parameters,
            documents=self._documents,
            index=index,
            passages=passages,
            boilerplate=boilerplate,
        ) as judge:
            for page in self.pages():
                self._documents.until = page.id
                watch.advance()
                if self._is_believed(page) and page.verdict not in KEPT:
                    continue  # it is the original of none
                held = find_text(self._before, page.id, page.text_digest, page.words)
                if held is not None:
                    self._judge_held(judge, page, held, counts)
                elif not self._is_believed(page):
                    unheld.append(page.id)
            self._documents.until = sys.maxsize
            self._unjudged = set(unheld)
            for page_id in unheld:
                self._judge_unheld(judge, row_of(self._before(_PAGE, (page_id,)).fetchone()))
                self._unjudged.remove(page_id)

    def _judge_held(
        self,
        judge: Deduplicator,
        page: PageRow,
        held: HeldText,
        counts: CountedBoilerplate | None,
    ) -> None:
        document = self._document(page, held)
        if self._is_believed(page):
            judge.add_document(page.id, document)
            return
        # First, as in a crawl: copies of a page without a word are copies too.
        payload = _payload(page)
        known = None if payload is None else judge.find_payload(payload)
        verdict = known or judge.judge_document(page.id, document)
        if self._was_kept_otherwise(page, verdict):
            judge.add_document(page.id, document)
            return
        if page.verdict == CHANGED and not verdict.is_duplicate:
            # Its distance and similarity are to its own last version.
            verdict = replace(
                verdict, kind=CHANGED, distance=page.distance, similarity=page.similarity
            )
        if counts is not None:
            kept_url = url_of(self._before, verdict.duplicate_of)
            if verdict.kind == CHANGED or is_counted(verdict.kind, page.url, kept_url):
                counts.count(page.id, page.url, block_hashes(document.text))
        self._put(page, verdict, document, held)

    def _is_believed(self, page: PageRow) -> bool:
        return self._doubted is not None and page.id not in self._doubted

    def _was_kept_otherwise(self, page: PageRow, verdict: Verdict) -> bool:
        """Return whether other parameters kept a doubted page that these would drop as near one."""
        is_dropped = page.verdict in KEPT and verdict.kind in INEXACT
        return self._doubted is not None and is_dropped and page.parameters != self.tuned.id

    def _document(self, page: PageRow, held: HeldText) -> Document:
        """Return the text of a page as the judge of the crawl received it."""
        try:
            extract = extract_of(
                unpack_judged(held.stored.text),
                held.stored.text,
                is_main=bool(page.is_main),
                visible_digest=page.visible_digest,
                parameters=self._parameters,
            )
        except (ZstdError, ValueError) as error:
            what = f"the text of {page.url} cannot be read ({error})"
            raise DamagedTextError(held.page, what) from None
        document = extract.document(self._parameters.min_words)
        name, group = self._store.volatile.stable(page.url, page.name), host_of(page.url)
        return replace(document, payload=_payload(page), name=name, group=group)

    def _judge_unheld(self, judge: Deduplicator, page: PageRow) -> None:
        """Judge a page without a stored text by its digests or its old distance, or await it."""
        known = self._equal(page)
        named = self._named(page.duplicate_of)
        if known is None and named is not None and self._goes_on(page, named):
            known = _named(page, page.duplicate_of)
        if known is not None:
            self._put(page, known)
        elif named is None:
            self._judge_by_original(judge, page)
        else:
            near = Verdict(NEAR_DUPLICATE, named.duplicate_of)
            if named.duplicate_of is None:
                near = Verdict(NEAR_DUPLICATE, named.id, page.distance, page.similarity)
            is_awaited = page.text_digest is not None or self._is_to_be_queued(page)
            self._put(page, near, is_awaited=is_awaited)

    def _named(self, page_id: int | None) -> PageRow | None:
        """Return a page that a duplicate names, if it was judged."""
        row = self._database.read(f"{_PAGE} AND {JUDGED}", (page_id,)).fetchone()
        return None if row is None or page_id in self._unjudged else row_of(row)

    def _judge_by_original(self, judge: Deduplicator, page: PageRow) -> None:
        """Judge a near-duplicate by the text of its original, which no page has any more.

        It has that text until it is fetched again. Where a kept page has the text, nothing but the
        name of the original changes.
        """
        found = self._before(_PAGE, (page.duplicate_of,)).fetchone()
        if found is None:
            return
        original = row_of(found)
        held = find_text(self._before, original.id, original.text_digest, original.words)
        if held is None:
            return
        document = self._document(original, held)
        name = self._store.volatile.stable(page.url, page.name)
        document = replace(document, payload=None, name=name, group=host_of(page.url))
        verdict = judge.judge_document(page.id, document)
        if verdict.kind == TEXT_DUPLICATE:
            self._put(page, _named(page, verdict.duplicate_of))
        elif verdict.is_duplicate:
            self._put(page, Verdict(NEAR_DUPLICATE, verdict.duplicate_of), is_awaited=True)
        else:
            self._put(page, verdict, document, held, is_awaited=True)

    def _is_to_be_queued(self, page: PageRow) -> bool:
        return self._can_queue and self._before(WAITS, (page.key,)).fetchone() is None

    def _equal(self, page: PageRow) -> Verdict | None:
        layers = (
            (EXACT_DUPLICATE, _payload(page), self._documents.find_payload),
            (TEXT_DUPLICATE, page.text_digest, self._documents.find_digest),
        )
        for kind, digest, find in layers:
            original = None if digest is None else find(digest, {page.id})
            if original is not None:
                return Verdict(kind, original, 0, 1.0)
        return None

    def _goes_on(self, page: PageRow, named: PageRow) -> bool:
        """Return whether a page's measures still make it a duplicate of the one that it names."""
        parameters = self._parameters
        if page.verdict == CONTAINED:
            is_alike = parameters.drop_contained and page.containment is not None
        elif page.distance is None or not parameters.verify:
            is_alike = page.distance is not None and page.distance <= parameters.max_distance
        else:
            is_alike = (page.similarity or 0.0) >= parameters.min_similarity
        is_long = (page.words or 0) >= parameters.min_words
        return named.duplicate_of is None and is_alike and is_long and not self._is_other(page)

    def _is_other(self, page: PageRow) -> bool:
        """Return whether a page has another name than the one that it repeats."""
        if not self._parameters.compare_names or page.duplicate_of is None:
            return False
        kept = self._documents.name(page.duplicate_of)
        name = self._store.volatile.stable(page.url, page.name)
        return bool(difference(unpacked(name), unpacked(kept)))

    def _put(
        self,
        page: PageRow,
        verdict: Verdict,
        document: Document | None = None,
        held: HeldText | None = None,
        *,
        is_awaited: bool = False,
    ) -> None:
        """Write a verdict where it differs from the stored one.

        Args:
            page: The page as it was before.
            verdict: The new verdict.
            document: Text of the page; None where it is stored nowhere.
            held: The text as it is stored, and its place.
            is_awaited: Whether the page is to be fetched again.
        """
        self.count += 1
        judged = replace(page, verdict=verdict.kind)
        judged.take_verdict(verdict)
        if document is not None:
            is_long = document.words >= self._parameters.min_words
            judged.text_digest = document.digest
            judged.fingerprint = document.fingerprint if is_long else None
        if verdict.kind == EXACT_DUPLICATE and verdict.duplicate_of is not None:  # as in a crawl
            kept = self.judged(verdict.duplicate_of)
            judged.text_digest, judged.fingerprint = kept.text_digest, kept.fingerprint
        if is_awaited:  # a near-duplicate whose original is gone has no bytes of its own
            self.awaited.add(page.id)
            judged.payload_digest = None
            judged.text_digest = None if held is None else judged.text_digest
        if judged != page or is_awaited:
            self.written.add(page.id)
            self._write(judged, held, is_lent=is_awaited)
        self.written.update(part.id for part in verdict.parts)
        self._store.name_container(page, verdict.parts)

    def _write(self, row: PageRow, held: HeldText | None, *, is_lent: bool) -> None:
        """Write a changed row, whether the page is the better one to keep, and where its text is.

        That of a kept page moves to its row, that of a duplicate to ``near_texts``.
        """
        stored = self._store.get(row.id)
        assert stored is not None
        row.text, row.content, row.html = stored.text, stored.content, stored.html
        row.reason = None if stored.verdict in WALLS else without(row.reason, Reason.RESEMBLES)
        kept = None if row.duplicate_of is None else self._store.get(row.duplicate_of)
        row.better_copy = int(kept is not None and is_better(row, kept))
        if held is not None:
            said_by = self._store.get(held.page) if is_lent else None
            if said_by is not None:  # it has the text of its original until it is fetched again
                facts = row.text_digest, row.fingerprint
                row.take_facts(said_by)
                row.text_digest, row.fingerprint = facts
            self._move_text(row, held)
        self._store.store_verdict(row)

    def _move_text(self, row: PageRow, held: HeldText) -> None:
        if row.duplicate_of is None:
            row.hold(held.stored)
        elif held.page == row.id or row.verdict in INEXACT:
            # For one with words of its own also if another page has the same text: that may change.
            if (held.page, held.is_near) != (row.id, 1):
                row.hold(held.stored)
                self._database.write(PUT_NEAR_TEXT, (row.id, row.text, row.content))
            row.hold(None)

    def _end(self) -> None:
        """Write what follows from the verdicts: groups of URLs, and what is to be fetched."""
        if self.written:
            self._database.write(_GROUPS)
        if self.awaited and self._can_queue:
            queue = QueueAgain(self._database)
            for page in map(self.judged, sorted(self.awaited)):
                queue.push_url(page.url, page.key, page.depth)


def _payload(page: PageRow) -> bytes | None:
    """Return the digest of the page's bytes if it has any, by which equal pages are found."""
    return page.payload_digest if page.body_bytes else None


def _named(page: PageRow, original: int | None) -> Verdict:
    """Return the stored verdict, with an original that has the text of the one it names."""
    verdict = Verdict(page.verdict, original, page.distance, page.similarity)
    return replace(verdict, containment=page.containment)
