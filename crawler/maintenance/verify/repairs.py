"""Repair ``crawl.db``: each repair takes a finding and reports on it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from crawler.maintenance.verify import capture_checks as captures
from crawler.maintenance.verify import column_checks as columns
from crawler.maintenance.verify import repeat_checks as repeats
from crawler.maintenance.verify import text_checks as texts
from crawler.maintenance.verify.database_checks import INDEXES, LACKING, missing_indexes
from crawler.maintenance.verify.finding import NoWatch
from crawler.maintenance.verify.queue_repairs import QUEUE_RULES, QueueMender
from crawler.maintenance.verify.queueing import QueueAgain
from crawler.maintenance.verify.value_repairs import VALUE_RULES, ValueMender
from crawler.pages.page_row import to_signed
from crawler.pages.page_store import PageStore
from crawler.pages.stored_texts import HeldTexts
from crawler.pages.verdicts import KEPT, NEW, TOO_SHORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import Finding
    from crawler.pages.page_row import PageRow
    from crawler.storage.database import Database

_FORGET = f"""
DELETE FROM pages WHERE id = ? OR (
    key = ? AND latest = 0 AND text IS NULL AND verdict IN ({captures.listed(KEPT)}))
"""


_KEEP = """
UPDATE pages SET verdict = ?, reason = NULL, duplicate_of = NULL, distance = NULL,
    similarity = NULL, better_copy = 0, text = ?, words = ?, is_main = ?, text_digest = ?,
    visible_digest = ?, fingerprint = ?, payload_digest = ?
WHERE id = ?
"""


_SAY_THE_SAME = """
UPDATE pages SET text_digest = kept.text_digest FROM pages AS kept
WHERE pages.id = ? AND kept.id = pages.duplicate_of
  AND pages.verdict = 'exact_duplicate' AND kept.payload_digest = pages.payload_digest
"""


class Mender:
    """Repairs a crawl's database by findings, all in one transaction.

    Args:
        directory: Crawl directory; its own connection sees no repair before the commit.
        database: Its database, for writing.
    """

    def __init__(self, directory: CrawlDirectory, database: Database) -> None:
        self._directory = directory
        self._database = database
        self._values = ValueMender(directory, database, lambda: self._again)
        self._store = PageStore(database)

    @cached_property
    def _again(self) -> QueueAgain:
        return QueueAgain(self._database)

    def mend(self, finding: Finding) -> str | None:
        """Repair a finding; return a report, or None if there is no repair."""
        if finding.rule in QUEUE_RULES:
            return QueueMender(self._directory, self._database, self._again).mend(finding)
        if finding.rule in VALUE_RULES:
            return self._values.mend(finding)
        act = _ACTS.get(finding.rule)
        return None if act is None else act(self, finding)

    def _make_indexes(self, finding: Finding) -> str:
        self._database.write("REINDEX")
        return "made the indexes of crawl.db anew"

    def _make_missing_indexes(self, finding: Finding) -> str:
        missing = missing_indexes(self._database.read)
        for sql in missing.values():
            self._database.write(sql)
        return f"made indexes of crawl.db: {', '.join(missing)}"

    def _choose_newest(self, finding: Finding) -> str:
        chosen = 0
        for page_id in finding.ids:
            row = self._database.read("SELECT key FROM pages WHERE id = ?", (page_id,)).fetchone()
            if row is not None:
                self._make_newest(row[0])
                chosen += 1
        return f"URLs whose newest capture was chosen: {chosen:,}"

    def _make_newest(self, key: bytes) -> None:
        """Make the last readable capture the newest, or the last one if none is readable."""
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
        """Drop the text of an old version; return 1 if it had one."""
        return self._database.write(
            "UPDATE pages SET text = NULL, html = NULL"
            " WHERE id = ? AND latest = 0 AND text IS NOT NULL",
            (page_id,),
        ).rowcount

    def _queue_again(self, page_id: int) -> bool:
        """Delete a newest capture, make an earlier one the newest, and queue the URL."""
        sql = "SELECT key, url, depth FROM pages WHERE id = ? AND latest = 1"
        row = self._database.read(sql, (page_id,)).fetchone()
        if row is None:
            return False
        key, url, depth = row
        # With old versions that have no text left: none of them can be the newest.
        self._database.write(_FORGET, (page_id, key))
        self._make_newest(key)
        self._again.push_url(url, key, depth)
        return True

    def _recompute(self, finding: Finding) -> str:
        parameters = self._directory.parameters
        assert parameters is not None
        sql = texts.TEXTS.replace("ORDER BY id", "AND id = ?")
        computed = 0
        for page_id in finding.ids:
            values = self._database.read(sql, (page_id,)).fetchone()
            if values is None:  # deleted by an earlier repair
                continue
            computed += 1
            said = texts.right(texts.StoredText(*values), parameters)
            self._database.write(
                "UPDATE pages SET words = ?, text_digest = ?, fingerprint = ? WHERE id = ?",
                (said.words, said.text_digest, to_signed(said.fingerprint), page_id),
            )
            if not said.is_answer_of(texts.StoredText(*values)):
                self._database.write(
                    "UPDATE pages SET words_digest = ?, last_text_digest = ? WHERE id = ?",
                    (said.words_digest, said.digest, page_id),
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
        """Return the first page that has a text, or None."""
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
        """Name an original with the duplicate's text, or keep it; queue it if the text is lost."""
        named = kept = queued = 0
        # Searched again: other repairs may have left orphans.
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
            row.payload_digest = None  # read again at its next visit
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

    def _drop_html(self, finding: Finding) -> str:
        rows = [(page_id,) for page_id in finding.ids]
        self._database.write_many("UPDATE pages SET html = NULL WHERE id = ?", rows)
        return f"HTML taken away: {len(rows):,}"

    def _drop_elsewhere(self, finding: Finding) -> str:
        rows = [(page_id,) for page_id in finding.ids]
        self._database.write_many("DELETE FROM elsewhere WHERE page = ?", rows)
        return f"originals of other crawls taken away: {len(rows):,}"

    def _forget_parameters(self, finding: Finding) -> str:
        rows = [(page_id,) for page_id in finding.ids]
        self._database.write_many("UPDATE pages SET parameters = NULL WHERE id = ?", rows)
        return f"verdicts whose parameters are not known: {len(rows):,}"

    def _drop_near_pages(self, finding: Finding) -> str:
        """Make kept pages duplicates of near ones, with their own duplicates of the same text."""
        found = list(repeats.near_pages(self._database.read, NoWatch()))
        for page in found:
            measures = page.original, page.distance, page.similarity
            self._database.write(
                "UPDATE pages SET verdict = 'near_duplicate', duplicate_of = ?, distance = ?,"
                " similarity = ? WHERE latest = 1 AND (id = ? OR duplicate_of = ? AND text_digest ="
                " (SELECT text_digest FROM pages WHERE id = ?))",
                (*measures, page.id, page.id, page.id),
            )
            self._database.write(
                "INSERT OR REPLACE INTO near_texts SELECT id, text FROM pages WHERE id = ?",
                (page.id,),
            )
            self._database.write("UPDATE pages SET text = NULL WHERE id = ?", (page.id,))
        said = f"pages made duplicates of one that says nearly the same: {len(found):,}"
        return f"{said}; {self._find_originals(finding) or 'no duplicate lost its original'}"

    def _measure(self, finding: Finding) -> str:
        """Correct the measures of duplicates, and find other originals for wrong ones."""
        found = [measured for measured, _ in repeats.mismeasured(self._database.read)]
        for page in found:
            if page.verdict is None:
                # With the same bytes it has the same text, whatever its row says.
                self._database.write(_SAY_THE_SAME, (page.id,))
            else:
                self._database.write(
                    "UPDATE pages SET distance = ?, similarity = ? WHERE id = ?",
                    (page.distance, page.similarity, page.id),
                )
        for page, _ in list(repeats.mismeasured(self._database.read)):
            self._database.write("UPDATE pages SET duplicate_of = NULL WHERE id = ?", (page.id,))
        said = f"duplicates measured: {len(found):,}"
        return f"{said}; {self._find_originals(finding) or 'all have originals'}"

    def _name_kinds(self, finding: Finding) -> str:
        rows = [(page_id,) for page_id in finding.ids]
        self._database.write_many(
            f"UPDATE pages SET verdict = CASE verdict WHEN '{NEW}' THEN '{TOO_SHORT}'"
            f" ELSE '{NEW}' END WHERE id = ?",
            rows,
        )
        return f"kept pages called too short, or long enough: {len(rows):,}"


_ACTS: dict[str, Callable[[Mender, Finding], str | None]] = {
    INDEXES: Mender._make_indexes,
    LACKING: Mender._make_missing_indexes,
    captures.NEWEST: Mender._choose_newest,
    captures.VERDICT: Mender._read_anew,
    captures.TEXT: Mender._read_anew,
    texts.READABLE: Mender._read_anew,
    texts.NEAR_READABLE: Mender._drop_near_texts,
    texts.NEAR_DIGEST: Mender._drop_near_texts,
    texts.HTML: Mender._drop_html,
    texts.DIGEST: Mender._recompute,
    texts.FINGERPRINT: Mender._recompute,
    captures.ONCE: Mender._make_duplicates,
    captures.ORIGINAL: Mender._find_originals,
    captures.SUPERSEDED: Mender._find_originals,
    captures.NEAR_TEXT: Mender._drop_near_texts,
    captures.ELSEWHERE: Mender._drop_elsewhere,
    captures.PARAMETERS: Mender._forget_parameters,
    repeats.NEAR_KEPT: Mender._drop_near_pages,
    repeats.MEASURES: Mender._measure,
    repeats.KIND: Mender._name_kinds,
}

_FIRST = (INDEXES, LACKING)
ORDER = (*_FIRST, *VALUE_RULES, *(rule for rule in _ACTS if rule not in _FIRST), *QUEUE_RULES)
"""Rules that can be repaired, in the order of the repairs."""

_OF_NO_VERDICT = {
    *(*_FIRST, captures.NEAR_TEXT, captures.ELSEWHERE, captures.PARAMETERS, texts.NEAR_READABLE),
    *(columns.META, columns.UNKNOWN, columns.LINKS, columns.REDIRECTS, repeats.CHOSEN, texts.HTML),
}
OF_TEXTS = {rule for rule in ORDER if rule not in _OF_NO_VERDICT | {*QUEUE_RULES}}
"""Rules whose repair may change the stored texts and the queue."""
