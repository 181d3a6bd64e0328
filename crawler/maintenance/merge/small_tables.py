"""Merge the small tables: parameters, requests, links, URL history, URL rules, meta and labels."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from crawler.frontier.queue import RequestQueue
from crawler.maintenance.merge.merged_crawls import IS_PARTED, attached, own_key
from crawler.pages.page_links import LinkPacker
from crawler.pages.page_row import fetched_in
from crawler.pages.wall_clusters import COLUMNS, WallCluster, WallClusters
from crawler.storage import meta_names
from crawler.storage.states import COVERED, DONE, FAILED, HOLDS, SKIPPED, WAITING, VariantState
from crawler.url_rules.kinds import CLOSED
from crawler.url_rules.variants import releasing_hosts, revoked_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.maintenance.merge.merged_crawls import MergedCrawl, PartedKeys
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.storage.database import Database

_REQUEST = "(state, tries, priority, depth, host, url, key, fixed, request)"
_MARK = f"""
INSERT OR IGNORE INTO requests {_REQUEST} VALUES ({DONE}, 0, 0, ?2, 0, '', ?1, 0, x'')
"""
_MARK_SEEN = f"""
INSERT OR IGNORE INTO main.requests {_REQUEST}
SELECT {DONE}, 0, 0, depth, 0, '', {own_key("said.key")}, 0, x''
FROM scratch.attached JOIN crawl.requests AS said
WHERE said.key IS NOT NULL AND """
_IS_DONE = f"said.state = {DONE}"
# A request that a rule skips which holds in the whole counts as made: another one stood for it.
_IS_RULED = f"""said.state = {SKIPPED} AND said.rule IN (
    SELECT its.id FROM crawl.url_rules AS its JOIN main.url_rules AS ours USING (rule)
    WHERE ours.state IN ({HOLDS}, {COVERED}))
"""
# None stood for one of a closed kind, which may open again.
_STAY_SKIPPED = f"""
INSERT OR IGNORE INTO main.requests
    (state, tries, priority, depth, host, url, key, fixed, request, rule, group_digest)
SELECT {SKIPPED}, tries, priority, depth, host, url, {own_key("said.key")}, fixed, request,
       -ours.id, group_digest
FROM scratch.attached JOIN crawl.requests AS said
JOIN crawl.url_kinds AS its ON its.id = -said.rule
JOIN main.url_kinds AS ours USING (question, name)
WHERE said.state = {SKIPPED} AND ours.state = '{CLOSED}'
"""
_WAITING = f"""
SELECT tries, priority, depth, host, url, key, fixed, request FROM requests
WHERE state <> {DONE} AND fixed >= ? AND state <= ? ORDER BY id
"""
_PUSH = f"""
INSERT OR IGNORE INTO requests {_REQUEST} VALUES ({WAITING}, ?, ?, ?, ?, ?, ?, ?, ?)
"""
# Another crawl may have asked for it.
_ASIDE = f"""
INSERT INTO main.file_links SELECT * FROM (
    SELECT {own_key("said.key")} AS key, kind, wider, url, depth, said.source
    FROM scratch.attached JOIN crawl.file_links AS said) AS said
WHERE NOT EXISTS (SELECT 1 FROM main.requests WHERE requests.key = said.key)
ON CONFLICT (key) DO UPDATE SET depth = min(depth, excluded.depth)
"""

_WALLS = f"SELECT host, skeleton, id, {COLUMNS} FROM wall_clusters ORDER BY id"
_ADD_WALL_PAGES = """
INSERT INTO main.wall_pages
SELECT coalesce(one.same_as, one.id), ?1, said.id  -- which has no same_as
-- In this order: SQLite would pass through all captures for each cluster.
FROM scratch.attached CROSS JOIN crawl.wall_pages AS wall
CROSS JOIN scratch.captures AS one ON one.source = number AND one.old = wall.page
LEFT JOIN scratch.captures AS said ON said.source = number AND said.old = wall.replaced
WHERE wall.cluster = ?2
ON CONFLICT (page) DO UPDATE SET replaced = max(
  coalesce(replaced, excluded.replaced), coalesce(excluded.replaced, replaced))
"""
_ADD_PROBES = """
INSERT OR IGNORE INTO main.wall_probes SELECT host, url, skeleton FROM crawl.wall_probes
"""
_ADD_NAME_SLOTS = """
INSERT INTO main.name_slots
SELECT host, slot, keys, iif(changed_visit, changed_visit + shift, 0),
       iif(visit, visit + shift, 0), is_fixed
FROM scratch.attached JOIN crawl.name_slots WHERE true
ON CONFLICT (host, slot) DO UPDATE SET
    keys = iif(excluded.visit > visit, excluded.keys, keys),
    changed_visit = iif(excluded.visit > visit, excluded.changed_visit, changed_visit),
    visit = max(visit, excluded.visit), is_fixed = max(is_fixed, excluded.is_fixed)
"""
_ADD_REDIRECTS = f"""
INSERT OR IGNORE INTO main.redirects
SELECT {own_key("said.key")}, url, {own_key("said.target")}, fragment
FROM scratch.attached JOIN crawl.redirects AS said
"""
_ADD_SPELLINGS = f"""
INSERT INTO main.spellings
SELECT own, (SELECT coalesce(max(place), -1) FROM main.spellings WHERE key = own)
       + row_number() OVER (PARTITION BY own ORDER BY place), url, state
FROM (SELECT {own_key("said.key")} AS own, said.*
      FROM scratch.attached JOIN crawl.spellings AS said) AS said
WHERE NOT EXISTS (
    SELECT 1 FROM main.spellings AS held WHERE held.key = own AND held.url = said.url)
"""
_ADD_LABELS = """
INSERT INTO main.labels SELECT * FROM crawl.labels WHERE true
ON CONFLICT (first, second) DO UPDATE SET
    label = excluded.label, first_url = excluded.first_url, second_url = excluded.second_url,
    labelled_at = excluded.labelled_at WHERE excluded.labelled_at > labels.labelled_at
"""
_PLAIN = (_ADD_PROBES, _ADD_NAME_SLOTS, _ADD_REDIRECTS, _ADD_SPELLINGS, _ADD_LABELS)
"""Statements that copy each table by itself."""

_DICTIONARY = "SELECT urls FROM link_dictionary"
_LINKS = f"""
SELECT * FROM (
    SELECT {own_key("said.key")} AS key, shared, urls, places, number
    FROM scratch.attached JOIN crawl.links AS said) AS said
WHERE EXISTS (
    SELECT 1 FROM scratch.captures AS one
    LEFT JOIN scratch.captures AS first ON first.id = one.same_as
    WHERE one.key = said.key AND +one.source = number  -- by the key, of which there are few
      AND (one.latest = 1 OR first.latest = 1))
"""

_IS_NEWEST = "EXISTS (SELECT 1 FROM scratch.captures WHERE captures.key = {} AND latest = 1{})"
_ADD_KNOWN = f"""
INSERT INTO main.known AS held
SELECT own, visit + shift, outcome, since + shift, reason, moved_to, distance, similarity, is_near,
       not_sent, was_away, interval_secs, due_at, referer, NULL
FROM (SELECT attached.*, {own_key("said.key")} AS own, said.*
      FROM scratch.attached JOIN crawl.known AS said) AS said
WHERE {_IS_NEWEST.format("said.own", " AND +source = number")} = {{0}}
ON CONFLICT (key) DO UPDATE SET visit = excluded.visit, outcome = excluded.outcome,
    since = excluded.since, reason = excluded.reason, moved_to = excluded.moved_to,
    distance = excluded.distance, similarity = excluded.similarity, is_near = excluded.is_near,
    not_sent = excluded.not_sent, was_away = excluded.was_away,
    interval_secs = excluded.interval_secs, due_at = excluded.due_at,
    referer = coalesce(excluded.referer, held.referer)
WHERE excluded.due_at > held.due_at AND ({{0}} OR NOT {_IS_NEWEST.format("held.key", "")})
"""
_ALIKE = (meta_names.PLAN, meta_names.VISIT_PLAN)


def merge_plain(database: Database, sources: Iterable[MergedCrawl]) -> None:
    """Copy short texts that are walls or may be ones, with their pages, and what needs no look.

    What one crawl found fixed in names is so in all.

    Args:
        database: Database of the merged crawl, with the captures numbered.
        sources: Crawls to copy from.
    """
    clusters = WallClusters(database)
    for source in attached(database, sources):
        for host, skeleton, *values in source.connection.execute(_WALLS):
            other = WallCluster(*values)
            cluster = clusters.take_over(host, skeleton, other)
            database.write(_ADD_WALL_PAGES, (cluster, other.id))
        for sql in _PLAIN:
            database.write(sql)


def merge_parameters(database: Database, sources: Iterable[MergedCrawl]) -> None:
    """Copy parameters in the order of time, those that two crawls share only once."""
    rows = sorted(
        (since, crawl.number, old, origin, chosen)
        for crawl in sources
        for old, since, origin, chosen in crawl.connection.execute(
            "SELECT id, since, origin, chosen FROM parameters"
        )
    )
    last, number = None, 0
    for since, source, old, origin, chosen in rows:
        if chosen != last:
            number += 1
            row = (number, since, origin, chosen)
            database.write("INSERT INTO parameters VALUES (?, ?, ?, ?)", row)
        database.write("INSERT INTO scratch.parameters VALUES (?, ?, ?)", (source, old, number))
        last = chosen


def merge_requests(
    database: Database,
    sources: Sequence[MergedCrawl],
    visit: int,
    parted: PartedKeys,
    watch: CheckWatch,
) -> None:
    """Copy the seen requests, the waiting ones that no other crawl has made, and links put aside.

    What a rule skipped that holds no more in the whole waits, so rules are merged before; so does
    what one crawl is to make whatever another one's rules say.

    The requests of a fleet's worker are only lent to it: the fleet has them, or others made them.

    Complexity: O(requests * log requests).
    """
    pages = fetched_in(database.read, visit)
    database.write_many(_MARK, ((key, depth) for key, depth, _ in pages))
    for source in attached(database, sources):
        watch.begin(f"requests of {source.folder}", source.count("requests"))
        watch.advance(database.write(_MARK_SEEN + _IS_DONE).rowcount)
    own = [source for source in sources if meta_names.FLEET not in source.meta]
    _push_waiting(database, own, parted, (1, FAILED))
    for source in attached(database, sources):
        database.write(_MARK_SEEN + _IS_RULED)
        if source in own:
            database.write(_STAY_SKIPPED)
    _push_waiting(database, own, parted, (0, SKIPPED))
    for _ in attached(database, sources):
        database.write(_ASIDE)
    RequestQueue(database).line_up()
    database.commit()


def _push_waiting(
    database: Database, sources: Iterable[MergedCrawl], parted: PartedKeys, which: tuple[int, int]
) -> None:
    """Queue what waits in some crawls: that is ``fixed`` at least so much, up to a state."""
    for source in sources:
        for *before, url, key, fixed, request in source.connection.execute(_WAITING, which):
            own = key and parted.key_of_waiting(parted.key(source.number, key), url)
            database.write(_PUSH, (*before, url, own, fixed, request))


def merge_links(database: Database, sources: Sequence[MergedCrawl], watch: CheckWatch) -> None:
    """Copy the links of each page's newest capture.

    Complexity: O(pages); 20 us for each list that must be compressed again.
    """
    found = (source.one(_DICTIONARY) for source in sources)
    shared = next((row[0] for row in found if row is not None), None)
    if shared is not None:
        database.write("INSERT INTO link_dictionary VALUES (1, ?)", (shared,))
    for source in attached(database, sources):
        watch.begin(f"links of {source.folder}", source.count("links"))
        row = source.one(_DICTIONARY)
        rows = _packed(database.read(_LINKS), None if row is None else row[0], shared)
        sql = "INSERT OR IGNORE INTO links (key, shared, urls, places) VALUES (?, ?, ?, ?)"
        watch.advance(database.write_many(sql, rows))


def _packed(
    rows: Iterable[Sequence[Any]], own: bytes | None, shared: bytes | None
) -> Iterator[tuple[bytes, int, bytes, bytes | None]]:
    """Yield lists of links as the dictionary of the merged crawl packs them."""
    old, new = LinkPacker(own or b""), LinkPacker(shared or b"")
    for key, is_shared, urls, places, _ in rows:
        if is_shared and own != shared:
            links, nofollow = old.unpack(urls)
            yield key, 1, new.pack(links, nofollow=nofollow), places
        else:
            yield key, is_shared, urls, places


def merge_known(database: Database, sources: Sequence[MergedCrawl], watch: CheckWatch) -> None:
    """Copy the history of each URL from the crawl with its newest capture.

    For URLs without a page, such as redirects, the latest entry counts.

    Complexity: O(URLs * log URLs).
    """
    for is_newest in (1, 0):
        for source in attached(database, sources):
            watch.begin(f"URLs of {source.folder}", source.count("known"))
            watch.advance(database.write(_ADD_KNOWN.format(is_newest)).rowcount)


def merge_meta(database: Database, sources: Sequence[MergedCrawl]) -> int:
    """Write the values of the whole crawl; return the number of the last visit.

    The crawl's plan is stored only if it is the same in all crawls.
    """
    first = sources[0].meta
    for name in meta_names.IDENTITY:
        if name in first:
            database.set_meta(name, first[name])
    for name in _ALIKE:
        if name in first and all(source.meta.get(name) == first[name] for source in sources):
            database.set_meta(name, first[name])
    scopes = [json.loads(source.meta.get(meta_names.SCOPES, "[]")) for source in sources]
    database.set_meta(meta_names.SCOPES, json.dumps(list(dict.fromkeys(chain(*scopes)))))
    visit = max(int(source.meta.get(meta_names.VISIT, 0)) for source in sources)
    last = max(int(source.meta.get(meta_names.LAST_VISIT, 0)) + source.shift for source in sources)
    database.set_meta(meta_names.VISIT, str(visit))
    database.set_meta(meta_names.LAST_VISIT, str(last))
    database.set_meta(
        meta_names.SITEMAPS, str(sum(int(one.meta.get(meta_names.SITEMAPS, 0)) for one in sources))
    )
    for name in (meta_names.STAGES, meta_names.COMPARISONS, meta_names.ANSWERS):
        database.set_meta(name, json.dumps(_total(sources, name)))
    _merge_settings(database, sources)
    return visit


def _total(sources: Sequence[MergedCrawl], name: str) -> dict[str, float]:
    total: Counter[str] = Counter()
    for source in sources:
        total.update(json.loads(source.meta.get(name, "{}")))
    return dict(total)


def _merge_settings(database: Database, sources: Sequence[MergedCrawl]) -> None:
    moved: dict[str, str] = {}
    names: set[str] = set()
    for source in sources:
        moved |= json.loads(source.meta.get(meta_names.MOVED_SEEDS, "{}"))
        names |= set(json.loads(source.meta.get(meta_names.PRIVATE_NAMES, "[]")))
    database.set_meta(meta_names.MOVED_SEEDS, json.dumps(moved))
    database.set_meta(meta_names.PRIVATE_NAMES, json.dumps(sorted(names)))
    newest = "SELECT max(since) FROM parameters"
    last = max(sources, key=lambda source: source.one(newest)[0] or 0.0)
    if meta_names.SETTINGS_PARAMETERS in last.meta:
        database.set_meta(meta_names.SETTINGS_PARAMETERS, last.meta[meta_names.SETTINGS_PARAMETERS])


_RULES = """
SELECT rule, state, positives, explored, saved, origin, since, reason, tried FROM url_rules
"""
_KINDS = """
SELECT question, name, met, tried, gained, barren, unclear, deepest, recent, state, reason
FROM url_kinds WHERE question <> 'link'
"""
_ADD_KIND = """
INSERT OR REPLACE INTO url_kinds
    (question, name, met, tried, gained, barren, unclear, deepest, recent, state, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

# A page of its own in one crawl is one in all; what one crawl only skipped may be tried in another.
# The first URL of a page that was parted is no variant.
_ADD_VARIANTS = f"""
INSERT INTO main.variants
SELECT key, page, iif(key = page, standing, {own_key("said.standing")}), host, rules, url, state,
       depth, said.source
FROM scratch.attached JOIN crawl.variants AS said
WHERE key <> page OR NOT {IS_PARTED.format("said.key")}
ON CONFLICT (key) DO UPDATE SET
    standing = excluded.standing, rules = excluded.rules, url = excluded.url,
    state = excluded.state, depth = excluded.depth, source = excluded.source
WHERE excluded.state > state
"""
_HOSTS_SKIPPED = f"SELECT DISTINCT host FROM variants WHERE state = {VariantState.SKIPPED}"


def merge_url_rules(database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys) -> None:
    """Copy rules, each once, the watched kinds of URLs, and what fixed rules skip.

    A rule that any crawl revoked, or its user forgot, holds nowhere.
    """
    rules: dict[str, list[object]] = {}
    for source in sources:
        for rule, state, positives, explored, saved, *rest in source.connection.execute(_RULES):
            tried = json.loads(rest[-1])
            # Rules get numbers anew, so that what was tried together with one is to be tried again.
            tried["tried"] = [one for one in tried.get("tried", ()) if one[0] >= 0]
            row = [state, positives, explored, saved, *rest[:-1], json.dumps(tried)]
            held = rules.setdefault(rule, row)
            if held is not row:
                rules[rule] = _together(held, row)
    kinds = chain.from_iterable(source.connection.execute(_KINDS) for source in sources)
    # The crawl with most tries of a kind comes last, and knows best.
    database.write_many(_ADD_KIND, sorted(kinds, key=itemgetter(3)))
    _merge_variants(database, sources, parted)
    database.write_many(
        "INSERT INTO url_rules (rule, state, positives, explored, saved, origin, since, reason,"
        " tried) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((rule, *row) for rule, row in rules.items()),
    )


def _merge_variants(database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys) -> None:
    """Copy variants; what one crawl skipped by a rule that another revoked is due."""
    releasing: set[str] = set()
    revoked = [revoked_rules(source.connection.execute) for source in sources]
    for source in attached(database, sources):
        database.write(_ADD_VARIANTS)
        releasing.update(releasing_hosts(source.connection.execute))
        known = revoked_rules(source.connection.execute)
        for (host,) in source.connection.execute(_HOSTS_SKIPPED).fetchall():
            if any(not one.get(host, set()) <= known.get(host, set()) for one in revoked):
                releasing.add(host)
    parted.note_variants()
    database.set_meta(meta_names.FIXED_RELEASING, json.dumps(sorted(releasing)))


def _together(held: list[object], row: list[object]) -> list[object]:
    """Return one rule of two crawls: their texts may be the same, their requests are not."""
    first, second = sorted((held, row), key=lambda one: -int(str(one[0])))
    state, positives, explored, saved, *rest = first
    numbers = [int(str(number)) for number in second[1:4]]
    return [
        state,
        max(int(str(positives)), numbers[0]),
        int(str(explored)) + numbers[1],
        int(str(saved)) + numbers[2],
        *rest,
    ]
