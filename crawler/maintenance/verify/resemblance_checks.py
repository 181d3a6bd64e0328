"""Check that every page of the verdict ``same_template`` names a page, and is as near as it says.

A page whose text changed may name one too, while its measures are to its own last version.
Pages of a fleet name in their ``reason`` the URL of one that another crawl keeps.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.verify.finding import Rule, Stage
from crawler.maintenance.verify.repeat_checks import is_close, mismeasured, similarity_of
from crawler.pages.page_row import to_unsigned
from crawler.pages.reasons import Reason
from crawler.pages.verdicts import CHANGED, KEPT, RESEMBLE_NOTHING, SAME_TEMPLATE, listed
from neardup import hamming

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding
    from crawler.maintenance.verify.repairer import Repairer
    from neardup import Parameters

    Read = Callable[..., sqlite3.Cursor]

_NAMED_ELSEWHERE = (
    f"instr(char(10) || coalesce(pages.reason, ''), char(10) || '{Reason.RESEMBLES} ')"
)
_UNNAMED = f"""
SELECT pages.id, pages.url FROM pages LEFT JOIN pages AS other
  ON other.id = pages.resembles AND other.key <> pages.key AND other.verdict IN ({listed(KEPT)})
WHERE pages.resembles IS NOT NULL AND (pages.verdict NOT IN ('{SAME_TEMPLATE}', '{CHANGED}')
       OR pages.latest = 1 AND other.id IS NULL)
   OR pages.resembles IS NULL AND pages.verdict = '{SAME_TEMPLATE}' AND pages.latest = 1
      AND NOT {_NAMED_ELSEWHERE}
"""
_RESEMBLING = f"""
SELECT pages.id, pages.url, pages.distance, pages.similarity, pages.fingerprint,
       other.fingerprint, pages.parameters, pages.text, other.text, pages.verdict = '{CHANGED}'
FROM pages JOIN pages AS other ON other.id = pages.resembles
WHERE pages.latest = 1 AND pages.verdict IN ('{SAME_TEMPLATE}', '{CHANGED}') ORDER BY pages.id
"""
_RESEMBLE_NOTHING = f"{RESEMBLE_NOTHING} WHERE id = ?"


class _Resembling(NamedTuple):
    id: int
    url: str
    distance: int | None
    similarity: float | None
    fingerprint: int | None
    other_fingerprint: int | None
    parameters: int | None
    text: bytes | None
    other_text: bytes | None
    is_changed: int


class _Measured(NamedTuple):
    """A page with its right measures; None where it is not near the page that it names."""

    id: int
    measures: tuple[int | None, float | None] | None


def find_resemblances(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Find pages that resemble none, and those with a wrong distance or similarity.

    Complexity: O(pages), and one comparison of texts for each page that resembles one.
    """
    read = directory.connection.execute
    watch.begin("pages that resemble one of another name", 1)
    yield from RESEMBLED.found(read(_UNNAMED))
    yield from MEASURES.found((measured.id, url) for measured, url in _mismeasured(read))
    watch.advance()


def _mismeasured(read: Read) -> Iterator[tuple[_Measured, str]]:
    return mismeasured(read, starmap(_Resembling, read(_RESEMBLING)), _measured)


def _measured(row: _Resembling, parameters: Parameters | None) -> _Measured | None:
    """Return the right measures of a page, or None if they are right.

    Where the text of the resembled page is not stored any more, the similarity is believed.
    """
    distance, similarity = row.distance, row.similarity
    one, other = to_unsigned(row.fingerprint), to_unsigned(row.other_fingerprint)
    if one is not None and other is not None:
        distance = hamming(one, other)
    if parameters is not None and row.text is not None and row.other_text is not None:
        if parameters.verify:
            similarity = similarity_of(parameters, row.text, row.other_text)
        is_far = (
            distance is not None and not parameters.verify and distance > parameters.max_distance
        )
        if is_far or (similarity is not None and similarity < parameters.min_similarity):
            return _Measured(row.id, None)
    if row.is_changed or (distance == row.distance and is_close(similarity, row.similarity)):
        return None
    return _Measured(row.id, (distance, similarity))


def _call_new(repairer: Repairer, finding: Finding) -> str:
    """Keep pages without a word about what they resemble."""
    repairer.write_each(_RESEMBLE_NOTHING, finding.ids)
    return f"pages kept that resemble none: {finding.count:,}"


def _measure(repairer: Repairer, finding: Finding) -> str:
    measured = [page for page, _ in _mismeasured(repairer.database.read)]
    for page in measured:
        if page.measures is None:
            repairer.database.write(_RESEMBLE_NOTHING, (page.id,))
        else:
            sql = "UPDATE pages SET distance = ?, similarity = ? WHERE id = ?"
            repairer.database.write(sql, (*page.measures, page.id))
    return f"pages measured that resemble one of another name: {len(measured):,}"


RESEMBLED = Rule(
    "resembled-named",
    "pages of the verdict same_template that name no kept page, or others that name one",
    "calls the former new, and removes the names from the others",
    _call_new,
    Stage.MEASURES,
)
MEASURES = Rule(
    "resembled-measured",
    "pages of the verdict same_template with wrong measures",
    "measures them, and calls new those that are not near",
    _measure,
    Stage.MEASURES,
)
