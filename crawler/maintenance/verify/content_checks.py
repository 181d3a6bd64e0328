"""Check that every stored text has the content that is shown for it, and no other row has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.maintenance.verify.finding import Culprits, Rule, Stage
from crawler.reading.content.content_xml import FROM_LINES, ContentError, StoredText, unpack_content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding
    from crawler.maintenance.verify.repairer import Repairer

_CONTENTS = "SELECT id, url, content FROM pages WHERE text IS NOT NULL ORDER BY id"
_NEAR_CONTENTS = """
SELECT page, url, near_texts.content
FROM near_texts JOIN pages ON pages.id = page ORDER BY page
"""
_LEFT_OVER = "SELECT id, url FROM pages WHERE text IS NULL AND content IS NOT NULL ORDER BY id"


def find_misshown(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Decompress and parse every content. Complexity: O(size); memory for one of them."""
    watch.begin("contents", directory.count("SELECT count(*) FROM pages WHERE text IS NOT NULL"))
    for rule, sql in ((CONTENT, _CONTENTS), (NEAR_CONTENT, _NEAR_CONTENTS)):
        unreadable = Culprits(rule)
        for page_id, url, packed in directory.connection.execute(sql):
            try:
                unpack_content(packed or b"")
            except ContentError as error:
                unreadable.add(page_id, f"{url} ({error})")
            watch.advance(int(rule is CONTENT))
        yield from unreadable.found()
    yield from LEFT_OVER.found(directory.connection.execute(_LEFT_OVER))


def _make_of_lines(repairer: Repairer, finding: Finding) -> str:
    for page_id in finding.ids:
        sql = "SELECT text FROM pages WHERE id = ? AND text IS NOT NULL"
        for (text,) in repairer.database.read(sql, (page_id,)).fetchall():
            repairer.database.write(
                "UPDATE pages SET content = ?, page_type = NULL, content_source = ? WHERE id = ?",
                (StoredText.of(text, None).content, FROM_LINES, page_id),
            )
    return f"contents made of the lines of their texts: {finding.count:,}"


def _make_near_of_lines(repairer: Repairer, finding: Finding) -> str:
    for page_id in finding.ids:
        sql = "SELECT text FROM near_texts WHERE page = ?"
        for (text,) in repairer.database.read(sql, (page_id,)).fetchall():
            repairer.database.write(
                "UPDATE near_texts SET content = ? WHERE page = ?",
                (StoredText.of(text, None).content, page_id),
            )
    return f"contents beside pages made of the lines of their texts: {finding.count:,}"


def _drop(repairer: Repairer, finding: Finding) -> str:
    repairer.write_each(
        "UPDATE pages SET content = NULL WHERE id = ? AND text IS NULL", finding.ids
    )
    return f"contents without a text deleted: {finding.count:,}"


_OF_LINES = "makes it of the lines of the text"

CONTENT = Rule(
    "content-readable",
    "texts whose content is missing, or cannot be read",
    _OF_LINES,
    _make_of_lines,
    Stage.MEASURES,
)
NEAR_CONTENT = Rule(
    "near-content-readable",
    "texts of near-duplicates whose content cannot be read",
    _OF_LINES,
    _make_near_of_lines,
    Stage.MEASURES,
)
LEFT_OVER = Rule(
    "content-owned",
    "contents of pages whose text is not stored",
    "deletes them",
    _drop,
    Stage.MEASURES,
)
