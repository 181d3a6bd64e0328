"""Repairs of ``crawl.db``: each takes a finding, and says what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.refolding import note_pending
from crawler.frontier.rule_store import RuleStore
from crawler.pages.page import to_signed
from crawler.pages.store import PageStore
from crawler.pages.verdicts import KEPT, NEW, TOO_SHORT
from crawler.rejudging.texts import HeldTexts
from crawler.verification import captures, frontier, texts, url_rules
from crawler.verification.database import INDEXES
from crawler.verification.finding import NoWatch
from crawler.verification.queueing import QueueAgain, encoded_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.pages.database import Database
    from crawler.pages.page import PageRow
    from crawler.verification.directory import CrawlDirectory
    from crawler.verification.finding import Finding

_FORGET = f"""
DELETE FROM pages WHERE id = ? OR (
    key = ? AND latest = 0 AND text IS NULL AND verdict IN ({captures.listed(KEPT)}))
"""  # noqa: S608


_KEEP = """
UPDATE pages SET verdict = ?, reason = NULL, duplicate_of = NULL, distance = NULL,
    similarity = NULL, better_copy = 0, text = ?, words = ?, is_main = ?, text_digest = ?,
    visible_digest = ?, fingerprint = ?, payload_digest = ?
WHERE id = ?
"""


class Mender:
    """Writes to a crawl's database what a finding calls for, in one transaction with the rest.

    Args:
        directory: What was looked at; its own connection sees nothing of this before the commit.
        database: The same database, for writing.
    """

    def __init__(self, directory: CrawlDirectory, database: Database) -> None:
        self._directory = directory
        self._database = database
        self._again = QueueAgain(database)
        self._queue = self._again.requests
        self._store = PageStore(database)

    def mend(self, finding: Finding) -> str | None:
        """Mend what was found; say what was done, None where nothing can be."""
        act = _ACTS.get(finding.rule)
        return None if act is None else act(self, finding)

    def _make_indexes(self, finding: Finding) -> str:
        self._database.write("REINDEX")
        return "made the indexes of crawl.db anew"

    def _choose_newest(self, finding: Finding) -> str:
        chosen = 0
        for page_id in finding.ids:
            row = self._database.read("SELECT key FROM pages WHERE id = ?", (page_id,)).fetchone()
            if row is not None:
                self._make_newest(row[0])
                chosen += 1
        return f"URLs whose newest capture was chosen: {chosen:,}"

    def _make_newest(self, key: bytes) -> None:
        """Make the last capture that was read the newest, or the last one where none was."""
        self._database.write("UPDATE pages SET latest = 0 WHERE key = ? AND latest = 1", (key,))
        self._database.write(
            "UPDATE pages SET latest = 1 WHERE id = (SELECT id FROM pages WHERE key = ?"
            " ORDER BY verdict IN ('failed', 'unreadable'), id DESC LIMIT 1)",
            (key,),
        )

    def _read_anew(self, finding: Finding) -> str | None:
        if self._directory.plan is None:
            return None
        dropped = sum(self._drop_text(page_id) for page_id in finding.ids)
        queued = sum(self._queue_again(page_id) for page_id in finding.ids)
        said = f"captures forgotten: {queued:,}, URLs queued again: {queued:,}"
        return f"{said}, texts of old versions dropped: {dropped:,}" if dropped else said

    def _drop_text(self, page_id: int) -> int:
        """Forget what an old version said; say how many were."""
        return self._database.write(
            "UPDATE pages SET text = NULL, html = NULL"
            " WHERE id = ? AND latest = 0 AND text IS NOT NULL",
            (page_id,),
        ).rowcount

    def _queue_again(self, page_id: int) -> bool:
        """Forget a newest capture, let an earlier one of its page count, and queue its URL."""
        sql = "SELECT key, url, depth FROM pages WHERE id = ? AND latest = 1"
        row = self._database.read(sql, (page_id,)).fetchone()
        if row is None:
            return False
        key, url, depth = row
        # With old versions of which nothing is left: none of them can be the newest.
        self._database.write(_FORGET, (page_id, key))
        self._make_newest(key)
        self._again.push_url(url, key, depth)
        return True

    def _queue_stuck(self, finding: Finding) -> str:
        stuck = list(frontier.unfetchable(self._directory))
        for number, url, packed in stuck:
            sql = "SELECT key, depth FROM requests WHERE id = ?"
            row = self._database.read(sql, (number,)).fetchone()
            if row is not None:  # not replaced in the meantime
                self._database.write("DELETE FROM requests WHERE id = ?", (number,))
                parts = encoded_request(row[1]) if packed is None else packed
                self._again.push_encoded(url, parts, *row)
        return f"requests queued again: {len(stuck):,}"

    def _recompute(self, finding: Finding) -> str:
        parameters = self._directory.parameters
        assert parameters is not None
        sql = texts.TEXTS.replace("ORDER BY id", "AND id = ?")
        computed = 0
        for page_id in finding.ids:
            values = self._database.read(sql, (page_id,)).fetchone()
            if values is None:  # given up in the meantime
                continue
            computed += 1
            said = texts.right(texts.StoredText(*values), parameters)
            self._database.write(
                "UPDATE pages SET words = ?, text_digest = ?, fingerprint = ? WHERE id = ?",
                (said.words, said.text_digest, to_signed(said.fingerprint), page_id),
            )
        return f"texts of which digest and fingerprint were computed: {computed:,}"

    def _make_duplicates(self, finding: Finding) -> str:
        made = 0
        for page_id in finding.ids:
            sql = "SELECT text_digest FROM pages WHERE id = ?"
            row = self._database.read(sql, (page_id,)).fetchone()
            first = None if row is None else self._holder(row[0])
            if first is not None and first != page_id:
                made += 1
                self._name_original(page_id, first)
                self._database.write(
                    "UPDATE pages SET duplicate_of = ? WHERE duplicate_of = ? AND latest = 1",
                    (first, page_id),
                )
        return f"pages made duplicates of the first that says the same: {made:,}"

    def _holder(self, digest: bytes | None) -> int | None:
        """The first page that holds a text."""
        row = self._database.read(
            "SELECT min(id) FROM pages WHERE text_digest = ? AND latest = 1 AND text IS NOT NULL",
            (digest,),
        ).fetchone()
        return None if row[0] is None else int(row[0])

    def _name_original(self, page_id: int, original: int) -> None:
        self._database.write(
            "UPDATE pages SET verdict = 'text_duplicate', duplicate_of = ?, distance = 0,"
            " similarity = 1.0, text = NULL, html = NULL WHERE id = ?",
            (original, page_id),
        )

    def _find_originals(self, finding: Finding) -> str | None:
        """Name who holds what a duplicate says, or keep it; fetch again what nobody holds."""
        named = kept = queued = 0
        # Anew: what other repairs took away may have left orphans.
        for row in self._orphans():
            holder = None if row.text_digest is None else self._holder(row.text_digest)
            if holder is not None:
                self._name_original(row.id, holder)
                named += 1
            elif self._keep(row):
                kept += 1
            elif self._directory.plan is not None:
                queued += self._queue_again(row.id)
        if not named and not kept and not queued:
            return None
        return (
            f"duplicates given another original: {named:,}, kept: {kept:,}, "
            f"URLs queued again: {queued:,}"
        )

    def _orphans(self) -> Iterator[PageRow]:
        ids = [page_id for page_id, _ in self._database.read(captures.ORPHANS)]
        for page_id in ids:
            row = self._store.get(page_id)
            if row is not None:
                yield row

    def _keep(self, row: PageRow) -> bool:
        """Keep a duplicate with its own text, or with that of the old version that it repeats."""
        texts = HeldTexts(self._database.read)
        source = texts.find(row.id, row.text_digest, row.words)
        if source is not None:
            row.text = texts.packed(source)
        else:
            old = self._store.get(row.duplicate_of) if row.duplicate_of is not None else None
            if old is None or old.text is None:
                return False
            row.text, row.text_digest, row.visible_digest = (
                old.text,
                old.text_digest,
                old.visible_digest,
            )
            row.words, row.is_main, row.fingerprint = old.words, old.is_main, old.fingerprint
            row.payload_digest = None  # to be read anew at its next visit
        row.verdict = TOO_SHORT if row.fingerprint is None else NEW
        self._database.write(
            _KEEP,
            (
                row.verdict,
                row.text,
                row.words,
                row.is_main,
                row.text_digest,
                row.visible_digest,
                to_signed(row.fingerprint),
                row.payload_digest,
                row.id,
            ),
        )
        self._database.write("DELETE FROM near_texts WHERE page = ?", (row.id,))
        return True

    def _drop_near_texts(self, finding: Finding) -> str:
        rows = [(page_id,) for page_id in finding.ids]
        self._database.write_many("DELETE FROM near_texts WHERE page = ?", rows)
        return f"texts beside the pages taken away: {len(rows):,}"

    def _drop_elsewhere(self, finding: Finding) -> str:
        rows = [(page_id,) for page_id in finding.ids]
        self._database.write_many("DELETE FROM elsewhere WHERE page = ?", rows)
        return f"originals of other crawls taken away: {len(rows):,}"

    def _forget_parameters(self, finding: Finding) -> str:
        rows = [(page_id,) for page_id in finding.ids]
        self._database.write_many("UPDATE pages SET parameters = NULL WHERE id = ?", rows)
        return f"verdicts whose parameters are not known: {len(rows):,}"

    def _end_leases(self, finding: Finding) -> str:
        return f"requests put back into the queue: {finding.count:,}"

    def _line_up(self, finding: Finding) -> str:
        self._queue.line_up()
        return "lined up the hosts of the queue anew"

    def _see(self, finding: Finding) -> str:
        """Give each request the key of its URL; none, where another one has it."""
        wrong = [(key, number) for number, _, key in frontier.unseen(self._directory, NoWatch())]
        without = [(number,) for _, number in wrong]
        self._database.write_many("UPDATE requests SET key = NULL WHERE id = ?", without)
        self._database.write_many("UPDATE OR IGNORE requests SET key = ? WHERE id = ?", wrong)
        return f"queued requests given the keys of their URLs: {len(wrong):,}"

    def _rule(self, finding: Finding) -> str:
        """Put back what no rule skipped; what is not skipped has no rule."""
        self._database.write("UPDATE requests SET rule = NULL, fold = NULL WHERE state != 4")
        self._database.write(
            "UPDATE requests SET state = 0, fold = NULL WHERE state = 4 AND rule IS NULL"
        )
        self._queue.line_up()
        return f"requests whose rule was put right: {finding.count:,}"

    def _forget_rules(self, finding: Finding) -> str:
        rows = [(number,) for number in url_rules.unreadable(self._directory)]
        self._database.write_many("DELETE FROM url_rules WHERE id = ?", rows)
        self._put_back(url_rules.NOT_HELD)
        return f"URL rules forgotten: {len(rows):,}"

    def _put_back_unruled(self, finding: Finding) -> str:
        return f"requests put back into the queue: {self._put_back(url_rules.NOT_HELD):,}"

    def _put_back_alone(self, finding: Finding) -> str:
        return f"requests put back into the queue: {self._put_back(url_rules.ALONE):,}"

    def _put_back(self, sql: str) -> int:
        """Put skipped requests back; the next crawl skips again what is to be skipped."""
        rows = [(number,) for number, _ in self._database.read(sql).fetchall()]
        self._database.write_many(
            "UPDATE requests SET state = 0, rule = NULL, fold = NULL WHERE id = ?", rows
        )
        self._queue.line_up()
        self._refold()
        return len(rows)

    def _refold(self) -> None:
        hosts = {host for rule in RuleStore(self._database) for host in rule.hosts}
        note_pending(self._database, hosts)

    def _forget_folds(self, finding: Finding) -> str:
        self._database.write(f"DELETE FROM folds WHERE {url_rules.WRONG_FOLD}")  # noqa: S608
        self._refold()
        return f"addresses that the next crawl looks at anew: {finding.count:,}"


_ACTS: dict[str, Callable[[Mender, Finding], str | None]] = {
    INDEXES: Mender._make_indexes,
    captures.NEWEST: Mender._choose_newest,
    captures.VERDICT: Mender._read_anew,
    captures.TEXT: Mender._read_anew,
    texts.READABLE: Mender._read_anew,
    texts.NEAR_READABLE: Mender._drop_near_texts,
    texts.DIGEST: Mender._recompute,
    texts.FINGERPRINT: Mender._recompute,
    captures.ONCE: Mender._make_duplicates,
    captures.ORIGINAL: Mender._find_originals,
    captures.SUPERSEDED: Mender._find_originals,
    captures.NEAR_TEXT: Mender._drop_near_texts,
    captures.ELSEWHERE: Mender._drop_elsewhere,
    captures.PARAMETERS: Mender._forget_parameters,
    frontier.LEASES: Mender._end_leases,
    frontier.SKIPPED: Mender._rule,
    frontier.FETCHABLE: Mender._queue_stuck,
    frontier.LINES: Mender._line_up,
    frontier.SEEN: Mender._see,
    url_rules.READABLE: Mender._forget_rules,
    url_rules.HELD: Mender._put_back_unruled,
    url_rules.STANDS: Mender._put_back_alone,
    url_rules.FOLDS: Mender._forget_folds,
}
"""What mends which rule, in the order in which it is done."""

ORDER = tuple(_ACTS)

_OF_THE_QUEUE = {
    *(frontier.LEASES, frontier.SKIPPED, frontier.LINES, frontier.SEEN),
    *(url_rules.READABLE, url_rules.HELD, url_rules.STANDS, url_rules.FOLDS),
}
_OF_NO_VERDICT = {
    *(INDEXES, captures.NEAR_TEXT, captures.ELSEWHERE, captures.PARAMETERS, texts.NEAR_READABLE),
}
OF_TEXTS = {rule for rule in ORDER if rule not in _OF_NO_VERDICT | _OF_THE_QUEUE}
"""What may change which texts are held, and what is queued."""
