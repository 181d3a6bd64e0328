"""Rows lost, exchanged and made to disagree: verify says so, and mends it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawler.maintenance.verify.crawled import check, check_and_repair, execute, rules, write
from tests.crawler.maintenance.verify.whole_crawl import make_whole, of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "job"
    make_whole(folder)
    return folder


def exchanged(column: str) -> tuple[str, ...]:
    """Two pages with each other's value."""
    return (
        f"CREATE TABLE other AS SELECT url, {column} AS value FROM pages"
        " WHERE latest = 1 AND (url LIKE '%/other' OR url LIKE '%/b')",
        f"UPDATE pages SET {column} = (SELECT value FROM other WHERE other.url <> pages.url)"
        " WHERE latest = 1 AND url IN (SELECT url FROM other)",
        "DROP TABLE other",
    )


ROWS: dict[str, tuple[tuple[str, ...], str]] = {
    "what resembles nothing": (
        (f"UPDATE pages SET resembles = NULL WHERE {of('/like')}",),
        "resembled-named",
    ),
    "a duplicate that resembles a page": (
        (
            f"UPDATE pages SET resembles = (SELECT id FROM pages WHERE {of('/a')})"
            f" WHERE {of('/same-as-b')}",
        ),
        "resembled-named",
    ),
    "a changed page that resembles one of other words": (
        (f"UPDATE pages SET resembles = (SELECT id FROM pages WHERE {of('/a')}) WHERE {of('/b')}",),
        "resembled-measured",
    ),
    "what resembles a duplicate": (
        (
            f"UPDATE pages SET resembles = (SELECT id FROM pages WHERE {of('/edited')})"
            f" WHERE {of('/like')}",
        ),
        "resembled-named",
    ),
    "what resembles a page of other words": (
        (
            f"UPDATE pages SET resembles = (SELECT id FROM pages WHERE {of('/other')})"
            f" WHERE {of('/like')}",
        ),
        "resembled-measured",
    ),
    "another similarity to what it resembles": (
        (f"UPDATE pages SET similarity = 0.5 WHERE {of('/like')}",),
        "resembled-measured",
    ),
    "a part of no page": (
        (f"UPDATE pages SET part_of = NULL WHERE {of('/part')}",),
        "part-named",
    ),
    "a duplicate that is a part": (
        (
            f"UPDATE pages SET containment = 1.0, part_of = (SELECT id FROM pages WHERE {of('/b')})"
            f" WHERE {of('/same-text')}",
        ),
        "part-named",
    ),
    "a part of a page of other words": (
        (
            f"UPDATE pages SET part_of = (SELECT id FROM pages WHERE {of('/a')})"
            f" WHERE {of('/part')}",
        ),
        "part-measured",
    ),
    "a part that stands there less than it says": (
        (f"UPDATE pages SET containment = 0.5 WHERE {of('/part')}",),
        "part-measured",
    ),
    "dropped as a part of a page of other words": (
        (
            f"INSERT INTO near_texts SELECT id, text, content, NULL FROM pages WHERE {of('/part')}",
            "UPDATE pages SET verdict = 'contained', part_of = NULL, text = NULL,"
            f" duplicate_of = (SELECT id FROM pages WHERE {of('/a')}) WHERE {of('/part')}",
        ),
        "part-measured",
    ),
    "a name that is none": (
        ('UPDATE pages SET name = \'["Title","",[],[]]\' WHERE name IS NOT NULL',),
        "values-right",
    ),
    "no parameters": (("DELETE FROM parameters",), "parameters-known"),
    "parameters that are none": (("UPDATE parameters SET chosen = '{}'",), "parameters-readable"),
    "nothing known of pages": (("DELETE FROM known",), "page-is-known"),
    "no dictionary of links": (("DELETE FROM link_dictionary",), "links-readable"),
    "a list of links that is none": (("UPDATE links SET urls = x'28b52ffd'",), "links-readable"),
    "places that are none": (("UPDATE links SET places = x'28b52ffd'",), "links-readable"),
    "links of no page": (("UPDATE links SET key = zeroblob(16) WHERE id = 1",), "links-readable"),
    "a redirect of another URL": (
        ("UPDATE redirects SET url = 'http://a/'",),
        "redirect-keys-right",
    ),
    "a kept page lost": ((f"DELETE FROM pages WHERE {of('/other')}",), "known-has-page"),
    "an original lost": ((f"DELETE FROM pages WHERE {of('/a')}",), "original-held"),
    "a duplicate lost": ((f"DELETE FROM pages WHERE {of('/same-text')}",), "known-has-page"),
    "the newest version lost": ((f"DELETE FROM pages WHERE {of('/b')}",), "newest-unique"),
    "keys exchanged": (exchanged("key"), "keys-right"),
    "URLs exchanged": (exchanged("url"), "keys-right"),
    "canonical URLs exchanged": (exchanged("canonical_url"), "keys-right"),
    "texts exchanged": (exchanged("text"), "digest-right"),
    "digests exchanged": (exchanged("text_digest"), "digest-right"),
    "fingerprints exchanged": (exchanged("fingerprint"), "fingerprint-right"),
    "digests of words exchanged": (exchanged("words_digest"), "digest-right"),
    "digests of what was said last exchanged": (exchanged("last_text_digest"), "digest-right"),
    "digests of bytes exchanged": (exchanged("payload_digest"), "values-right"),
    "a near text of another page": (
        (f"UPDATE near_texts SET text = (SELECT text FROM pages WHERE {of('/other')})",),
        "near-text-right",
    ),
    "kept, and near a kept page": (
        (
            "UPDATE pages SET verdict = 'new', duplicate_of = NULL, distance = NULL,"
            " similarity = NULL, text = (SELECT text FROM near_texts WHERE page = pages.id)"
            f" WHERE {of('/edited')}",
            "DELETE FROM near_texts",
        ),
        "kept-apart",
    ),
    "changed to what a kept page says": (
        (
            "UPDATE pages SET verdict = 'changed', duplicate_of = NULL,"
            f" text = (SELECT text FROM pages WHERE {of('/a')}) WHERE {of('/same-text')}",
        ),
        "kept-once",
    ),
    "a near-duplicate of another page": (
        (
            f"UPDATE pages SET duplicate_of = (SELECT id FROM pages WHERE {of('/other')})"
            f" WHERE {of('/edited')}",
        ),
        "duplicate-measured",
    ),
    "a text duplicate of another page": (
        (
            f"UPDATE pages SET duplicate_of = (SELECT id FROM pages WHERE {of('/other')})"
            f" WHERE {of('/same-text')}",
        ),
        "duplicate-measured",
    ),
    "a duplicate of a duplicate": (
        (
            f"UPDATE pages SET duplicate_of = (SELECT id FROM pages WHERE {of('/same-text')})"
            f" WHERE {of('/edited')}",
        ),
        "original-held",
    ),
    "a duplicate of itself": (
        (f"UPDATE pages SET duplicate_of = id WHERE {of('/edited')}",),
        "original-held",
    ),
    "another similarity": (
        (f"UPDATE pages SET similarity = 0.5 WHERE {of('/edited')}",),
        "duplicate-measured",
    ),
    "new, and too short": (
        (f"UPDATE pages SET verdict = 'new' WHERE {of('/short')}",),
        "verdict-right",
    ),
    "HTML that is no zstd": (
        ("UPDATE pages SET html = x'00' WHERE html NOTNULL",),
        "html-readable",
    ),
    "no number of the visit": (("DELETE FROM meta WHERE name = 'visit'",), "meta-right"),
    "a visit before that of its pages": (
        ("UPDATE meta SET value = '0' WHERE name = 'visit'",),
        "meta-right",
    ),
    "an index of SQLite that is not there": (("DROP INDEX pages_text",), "database-has-indexes"),
    "a trigger and a view of somebody else": (
        (
            'CREATE TRIGGER "a ""b" AFTER UPDATE ON pages BEGIN DELETE FROM known; END',
            "CREATE VIEW odd AS SELECT 1",
        ),
        "database-without-triggers",
    ),
    "a title that is no UTF-8": (("UPDATE pages SET title = CAST(x'ff' AS TEXT)",), "values-right"),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_do_not_go_together_are_found_and_mended(folder: Path, name: str) -> None:
    statements, rule = ROWS[name]
    execute(folder, *statements)
    found = check(folder)
    assert rule in rules(found)
    assert found.problems
    assert check_and_repair(folder).findings == ()


def test_a_waiting_duplicate_of_a_killed_process_is_left_to_the_next_one(folder: Path) -> None:
    """Its original says something else, and it was not asked for."""
    write(
        folder,
        f"UPDATE pages SET latest = 0 WHERE {of('/a')}",
        "INSERT INTO superseded SELECT id FROM pages WHERE url = 'http://example.com/a'",
        f"UPDATE pages SET key = (SELECT key FROM pages WHERE {of('/short')})"
        " WHERE url = 'http://example.com/a'",
        "UPDATE pages SET (url, canonical_url) = (SELECT url, canonical_url FROM pages"
        f" WHERE {of('/short')}) WHERE url = 'http://example.com/a'",
        "DELETE FROM known WHERE key NOT IN (SELECT key FROM pages)",
        "DELETE FROM links",
    )
    found = check(folder)
    assert rules(found) == {"original-superseded"}
    assert found.problems == ()
    assert check_and_repair(folder).findings == ()
    texts = "SELECT count(*) FROM pages WHERE latest = 1 AND text NOTNULL AND url LIKE '%/same-%'"
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        assert connection.execute(texts).fetchone()[0] == 2
