"""Where the pages of all crawls lead, compressed with one dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pages.link_lists import LinkPacker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.maintenance.merge.merged_crawls import Source
    from crawler.maintenance.verify.finding import Watch
    from crawler.storage.database import Database

_DICTIONARY = "SELECT urls FROM link_dictionary"
_OF_NEWEST = """
SELECT 1 FROM scratch.captures AS one
LEFT JOIN scratch.captures AS first ON first.id = one.same_as
WHERE one.key = ?1 AND +one.source = ?2  -- by the key, of which there are few
  AND (one.latest = 1 OR first.latest = 1)
"""


def merge_links(database: Database, sources: Sequence[Source], watch: Watch) -> None:
    """Copy the links of each page's newest capture.

    Complexity: O(pages); 20 us each where they are compressed anew.
    """
    dictionaries = [source.one(_DICTIONARY) for source in sources]
    shared = next((row[0] for row in dictionaries if row is not None), None)
    if shared is not None:
        database.write("INSERT INTO link_dictionary VALUES (1, ?)", (shared,))
    for source, row in zip(sources, dictionaries, strict=True):
        watch.begin(f"links of {source.folder}", source.count("links"))
        own = None if row is None else row[0]
        rows = _packed(database, source, own, shared, watch)
        sql = "INSERT OR IGNORE INTO links (key, shared, urls) VALUES (?, ?, ?)"
        database.write_many(sql, rows)
        database.commit()


def _packed(
    database: Database, source: Source, own: bytes | None, shared: bytes | None, watch: Watch
) -> Iterator[tuple[bytes, int, bytes]]:
    old, new = LinkPacker(own or b""), LinkPacker(shared or b"")
    for key, is_shared, urls in source.connection.execute("SELECT key, shared, urls FROM links"):
        watch.advance()
        if database.read(_OF_NEWEST, (key, source.number)).fetchone() is None:
            continue
        if is_shared and own != shared:
            links, nofollow = old.unpack(urls)
            yield key, 1, new.pack(links, nofollow=nofollow)
        else:
            yield key, is_shared, urls
