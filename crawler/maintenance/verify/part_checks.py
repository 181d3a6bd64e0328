"""Check that every page that is a part of another one names it, and stands there as far as it says.

Boilerplate may have lowered a containment when the page came, so one is right that is as large as
the texts allow, or less, and large enough for a part.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.verify.capture_checks import find_originals
from crawler.maintenance.verify.finding import Rule, Stage
from crawler.maintenance.verify.repeat_checks import CLOSE, mismeasured
from crawler.pages.stored_texts import unpack_judged
from crawler.pages.verdicts import CONTAINED, KEPT, PART_OF_NOTHING, listed
from neardup.parts import MIN_CONTAINMENT
from neardup.verification import containment
from neardup.whole import split_whole

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding
    from crawler.maintenance.verify.repairer import Repairer
    from neardup import Parameters

    Read = Callable[..., sqlite3.Cursor]

_KEPT = f"verdict IN ({listed(KEPT)})"
_UNNAMED = f"""
SELECT pages.id, pages.url FROM pages LEFT JOIN pages AS whole
  ON whole.id = pages.part_of AND whole.key <> pages.key AND whole.{_KEPT}
WHERE pages.part_of IS NOT NULL AND (NOT pages.{_KEPT} OR pages.containment IS NULL
      OR pages.latest = 1 AND whole.id IS NULL)
   OR pages.part_of IS NULL AND pages.containment IS NOT NULL AND pages.verdict <> '{CONTAINED}'
"""
_PARTS = f"""
SELECT pages.id, pages.url, pages.verdict, pages.containment, pages.parameters,
       coalesce(pages.text, near_texts.text), whole.text
FROM pages JOIN pages AS whole ON whole.id = coalesce(pages.part_of, pages.duplicate_of)
LEFT JOIN near_texts ON near_texts.page = pages.id
WHERE pages.latest = 1 AND (pages.part_of IS NOT NULL OR pages.verdict = '{CONTAINED}')
ORDER BY pages.id
"""


class _PartPage(NamedTuple):
    id: int
    url: str
    verdict: str
    containment: float | None
    parameters: int | None
    text: bytes | None
    whole: bytes | None


class _Measured(NamedTuple):
    """A part with its right containment; None where it is no part of the page that it names."""

    id: int
    verdict: str
    containment: float | None


def find_parts(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find parts of no page, and those with a wrong containment.

    Complexity: O(pages), and one comparison of texts for each part.
    """
    read = directory.connection.execute
    watch.begin("pages that are parts of others", 1)
    yield from NAMED.found(read(_UNNAMED))
    yield from MEASURES.found((measured.id, url) for measured, url in _mismeasured(read))
    watch.advance()


def _mismeasured(read: Read) -> Iterator[tuple[_Measured, str]]:
    return mismeasured(read, starmap(_PartPage, read(_PARTS)), _measured)


def _measured(row: _PartPage, parameters: Parameters | None) -> _Measured | None:
    """Return the right containment of a part, or None if it is right.

    Where one of the texts is not stored any more, it is believed.
    """
    if parameters is None or row.text is None or row.whole is None:
        return None
    size = parameters.verify_shingle_size
    sides = (split_whole(unpack_judged(packed)) for packed in (row.text, row.whole))
    pairs = dict.fromkeys(zip(*sides, strict=True))
    found = min(containment(part, whole, shingle_size=size) for part, whole in pairs)
    if found < MIN_CONTAINMENT:
        return _Measured(row.id, row.verdict, None)
    is_right = row.containment is not None and MIN_CONTAINMENT <= row.containment <= found + CLOSE
    return None if is_right else _Measured(row.id, row.verdict, found)


def _name_none(repairer: Repairer, finding: Finding) -> str:
    repairer.write_each(f"{PART_OF_NOTHING} WHERE id = ?", finding.ids)
    return f"pages no longer called parts of others: {finding.count:,}"


def _measure(repairer: Repairer, finding: Finding) -> str:
    """Correct the containment of parts, and keep dropped pages that are no parts."""
    measured = [page for page, _ in _mismeasured(repairer.database.read)]
    write = repairer.database.write
    for page in measured:
        if page.containment is not None:
            write("UPDATE pages SET containment = ? WHERE id = ?", (page.containment, page.id))
        elif page.verdict == CONTAINED:
            write("UPDATE pages SET duplicate_of = NULL WHERE id = ?", (page.id,))
        else:
            write(f"{PART_OF_NOTHING} WHERE id = ?", (page.id,))
    said = f"parts of other pages measured: {len(measured):,}"
    return f"{said}; {find_originals(repairer) or 'no duplicate lost its original'}"


NAMED = Rule(
    "part-named",
    "pages called parts of a page that is not kept",
    "removes the names",
    _name_none,
    Stage.MEASURES,
)
MEASURES = Rule(
    "part-measured",
    "pages called parts of others with a wrong containment",
    "measures it, and keeps the pages that are no parts",
    _measure,
    Stage.MEASURES,
    changes_texts=True,
)
