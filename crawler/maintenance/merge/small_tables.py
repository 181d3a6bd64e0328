"""Merge the small tables: parameters, requests, links, URL history, URL rules, meta and labels."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from crawler.frontier.queue import RequestQueue
from crawler.pages.page_links import LinkPacker
from crawler.pages.wall_clusters import COLUMNS, WallCluster, WallClusters
from crawler.storage import meta_names
from crawler.storage.states import DONE, SKIPPED, WAITING, VariantState
from crawler.url_rules.variants import releasing_hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawler.maintenance.merge.merged_crawls import MergedCrawl, PartedKeys
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.storage.database import Database

# A request that a rule skipped counts as made: another one stood for it.
_SEEN = f"SELECT key, depth FROM requests WHERE state IN ({DONE}, {SKIPPED}) AND key IS NOT NULL"
_MARK = f"""
INSERT OR IGNORE INTO requests (state, tries, priority, depth, host, url, key, fixed, request)
VALUES ({DONE}, 0, 0, ?2, 0, '', ?1, 0, x'')
"""
_PAGES = f"""
INSERT OR IGNORE INTO requests (state, tries, priority, depth, host, url, key, fixed, request)
SELECT {DONE}, 0, 0, depth, 0, '', key, 0, x'' FROM pages
WHERE latest = 1 AND max(visit, seen_visit) = ?
"""
_WAITING = f"""
SELECT tries, priority, depth, host, url, key, fixed, request FROM requests
WHERE state NOT IN ({DONE}, {SKIPPED}) ORDER BY id
"""
_PUSH = f"""
INSERT OR IGNORE INTO requests (state, tries, priority, depth, host, url, key, fixed, request)
VALUES ({WAITING}, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_REDIRECTS = "SELECT key, url, target, fragment FROM redirects"

_WALLS = f"SELECT host, skeleton, id, {COLUMNS} FROM wall_clusters ORDER BY id"
_WALL_PAGES = "SELECT page, replaced FROM wall_pages WHERE cluster = ?"
_ADD_WALL_PAGE = """
INSERT INTO wall_pages
SELECT coalesce(one.same_as, one.id), ?1, said.id  -- which has no same_as
FROM scratch.captures AS one
LEFT JOIN scratch.captures AS said ON said.source = ?2 AND said.old = ?4
WHERE one.source = ?2 AND one.old = ?3
ON CONFLICT (page) DO UPDATE SET replaced = max(
  coalesce(replaced, excluded.replaced), coalesce(excluded.replaced, replaced))
"""

_NAME_SLOTS = """
SELECT host, slot, keys, iif(changed_visit, changed_visit + ?1, 0), iif(visit, visit + ?1, 0),
       is_fixed
FROM name_slots
"""
_ADD_NAME_SLOT = """
INSERT INTO name_slots VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (host, slot) DO UPDATE SET
    keys = iif(excluded.visit > visit, excluded.keys, keys),
    changed_visit = iif(excluded.visit > visit, excluded.changed_visit, changed_visit),
    visit = max(visit, excluded.visit), is_fixed = max(is_fixed, excluded.is_fixed)
"""

_DICTIONARY = "SELECT urls FROM link_dictionary"
_LINKS = "SELECT key, shared, urls, places FROM links"
_OF_NEWEST = """
SELECT 1 FROM scratch.captures AS one
LEFT JOIN scratch.captures AS first ON first.id = one.same_as
WHERE one.key = ?1 AND +one.source = ?2  -- by the key, of which there are few
  AND (one.latest = 1 OR first.latest = 1)
"""

_ROWS = """
SELECT key, visit + ?1, outcome, since + ?1, reason, moved_to, distance, similarity, is_near,
       not_sent, was_away, interval_secs, due_at, referer
FROM known
"""
_HAS_NEWEST = "SELECT 1 FROM scratch.captures WHERE key = ? AND latest = 1 AND +source = ?"
_PUT = """
INSERT INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)
ON CONFLICT (key) DO UPDATE SET visit = excluded.visit, outcome = excluded.outcome,
    since = excluded.since, reason = excluded.reason, moved_to = excluded.moved_to,
    distance = excluded.distance, similarity = excluded.similarity, is_near = excluded.is_near,
    not_sent = excluded.not_sent, was_away = excluded.was_away,
    interval_secs = excluded.interval_secs, due_at = excluded.due_at,
    referer = coalesce(excluded.referer, referer)
WHERE excluded.due_at > known.due_at
"""

_ALIKE = (meta_names.PLAN, meta_names.VISIT_PLAN)
_LABEL = """
INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (first, second) DO UPDATE SET
    label = excluded.label, first_url = excluded.first_url, second_url = excluded.second_url,
    labelled_at = excluded.labelled_at WHERE excluded.labelled_at > labels.labelled_at
"""


def merge_walls(database: Database, sources: Iterable[MergedCrawl]) -> None:
    """Copy short texts that are walls or may be ones, with their pages, and answers to probes.

    Args:
        database: Database of the merged crawl, with the captures numbered.
        sources: Crawls to copy from.
    """
    clusters = WallClusters(database)
    for source in sources:
        for host, skeleton, *values in source.connection.execute(_WALLS):
            other = WallCluster(*values)
            cluster = clusters.take_over(host, skeleton, other)
            pages = source.connection.execute(_WALL_PAGES, (other.id,))
            rows = ((cluster, source.number, *page) for page in pages)
            database.write_many(_ADD_WALL_PAGE, rows)
        probes = source.connection.execute("SELECT host, url, skeleton FROM wall_probes")
        database.write_many("INSERT OR IGNORE INTO wall_probes VALUES (?, ?, ?)", probes)


def merge_name_slots(database: Database, sources: Iterable[MergedCrawl]) -> None:
    """Copy what was learned of words in names; what one crawl found fixed is so in all."""
    for source in sources:
        rows = source.connection.execute(_NAME_SLOTS, (source.shift,))
        database.write_many(_ADD_NAME_SLOT, rows)


def merge_parameters(
    database: Database, sources: Iterable[MergedCrawl]
) -> dict[tuple[int, int], int]:
    """Copy parameters in the order of time, those that two crawls share only once.

    Returns:
        Their new ids, by number of the source and old id.
    """
    rows = sorted(
        (since, source.number, old, origin, chosen)
        for source in sources
        for old, since, origin, chosen in source.connection.execute(
            "SELECT id, since, origin, chosen FROM parameters"
        )
    )
    found: dict[tuple[int, int], int] = {}
    last, number = None, 0
    for since, source_number, old, origin, chosen in rows:
        if chosen != last:
            number += 1
            row = (number, since, origin, chosen)
            database.write("INSERT INTO parameters VALUES (?, ?, ?, ?)", row)
        found[source_number, old] = number
        last = chosen
    return found


def merge_requests(
    database: Database,
    sources: Sequence[MergedCrawl],
    visit: int,
    parted: PartedKeys,
    watch: CheckWatch,
) -> None:
    """Copy the seen requests, then the waiting ones that no other crawl has made.

    The requests of a fleet's worker are only lent to it: the fleet has them, or others made them.

    Complexity: O(requests * log requests).
    """
    database.write(_PAGES, (visit,))
    for source in sources:
        watch.begin(f"requests of {source.folder}", source.count("requests"))
        seen = source.connection.execute(_SEEN)
        of = partial(parted.key, source.number)
        watch.advance(database.write_many(_MARK, ((of(key), depth) for key, depth in seen)))
        redirects = (
            (of(key), url, of(target), fragment)
            for key, url, target, fragment in source.connection.execute(_REDIRECTS)
        )
        database.write_many("INSERT OR IGNORE INTO redirects VALUES (?, ?, ?, ?)", redirects)
        database.commit()
    for source in sources:
        if meta_names.FLEET not in source.meta:
            for *before, url, key, fixed, request in source.connection.execute(_WAITING):
                own = key and parted.key_of_waiting(parted.key(source.number, key), url)
                database.write(_PUSH, (*before, url, own, fixed, request))
    RequestQueue(database).line_up()
    database.commit()


def merge_links(
    database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys, watch: CheckWatch
) -> None:
    """Copy the links of each page's newest capture.

    Complexity: O(pages); 20 us for each list that must be compressed again.
    """
    dictionaries = [source.one(_DICTIONARY) for source in sources]
    shared = next((row[0] for row in dictionaries if row is not None), None)
    if shared is not None:
        database.write("INSERT INTO link_dictionary VALUES (1, ?)", (shared,))
    for source, row in zip(sources, dictionaries, strict=True):
        watch.begin(f"links of {source.folder}", source.count("links"))
        own = None if row is None else row[0]
        of = partial(parted.key, source.number)
        rows = _packed(database, source, own, shared, of, watch)
        sql = "INSERT OR IGNORE INTO links (key, shared, urls, places) VALUES (?, ?, ?, ?)"
        database.write_many(sql, rows)
        database.commit()


def _packed(
    database: Database,
    source: MergedCrawl,
    own: bytes | None,
    shared: bytes | None,
    of: Callable[[bytes], bytes],
    watch: CheckWatch,
) -> Iterator[tuple[bytes, int, bytes, bytes | None]]:
    old, new = LinkPacker(own or b""), LinkPacker(shared or b"")
    for old_key, is_shared, urls, places in source.connection.execute(_LINKS):
        watch.advance()
        key = of(old_key)
        if database.read(_OF_NEWEST, (key, source.number)).fetchone() is None:
            continue
        if is_shared and own != shared:
            links, nofollow = old.unpack(urls)
            yield key, 1, new.pack(links, nofollow=nofollow), places
        else:
            yield key, is_shared, urls, places


def merge_known(
    database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys, watch: CheckWatch
) -> None:
    """Copy the history of each URL from the crawl with its newest capture.

    Complexity: O(URLs * log URLs).
    """
    for is_newest in (True, False):
        for source in sources:
            watch.begin(f"URLs of {source.folder}", source.count("known"))
            rows = _rows(database, source, parted, watch, is_newest=is_newest)
            # For URLs without a page, such as redirects, the latest entry counts.
            sql = _PUT if is_newest else _PUT.replace("excluded.due_at > known", _NOBODY_HAS)
            database.write_many(sql, rows)
            database.commit()


_NOBODY_HAS = (
    "NOT EXISTS (SELECT 1 FROM pages WHERE pages.key = known.key) AND excluded.due_at > known"
)


def _rows(
    database: Database,
    source: MergedCrawl,
    parted: PartedKeys,
    watch: CheckWatch,
    *,
    is_newest: bool,
) -> Iterator[tuple[object, ...]]:
    for old_key, *rest in source.connection.execute(_ROWS, (source.shift,)):
        watch.advance()
        key = parted.key(source.number, old_key)
        found = database.read(_HAS_NEWEST, (key, source.number)).fetchone()
        if (found is not None) == is_newest:
            yield key, *rest


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
    for source in sources:
        database.write_many(_LABEL, source.connection.execute("SELECT * FROM labels"))
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
_CLUSTERS = """
SELECT name, fetched, new, barren, met, counted, deepest, recent, state, reason FROM url_clusters
"""
# Counts of traps add up; the state is that of the crawl with most pages of the kind.
_ADD_CLUSTER = """
INSERT INTO url_clusters
    (name, fetched, new, barren, met, counted, deepest, recent, state, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    barren = iif(excluded.fetched > fetched, excluded.barren, barren),
    met = iif(excluded.fetched > fetched, excluded.met, met),
    counted = iif(excluded.fetched > fetched, excluded.counted, counted),
    deepest = iif(excluded.fetched > fetched, excluded.deepest, deepest),
    recent = iif(excluded.fetched > fetched, excluded.recent, recent),
    state = iif(excluded.fetched > fetched, excluded.state, state),
    reason = iif(excluded.fetched > fetched, excluded.reason, reason),
    fetched = fetched + excluded.fetched, new = new + excluded.new
"""

_VARIANTS = """
SELECT key, page, standing, host, rules, url, state, priority, request FROM variants
"""
# A page of its own in one crawl is one in all; what one crawl only skipped may be tried in another.
_ADD_VARIANT = """
INSERT INTO variants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
    standing = excluded.standing, rules = excluded.rules, url = excluded.url,
    state = excluded.state, priority = excluded.priority, request = excluded.request
WHERE excluded.state > state
"""
_HOSTS_SKIPPED = f"SELECT DISTINCT host FROM variants WHERE state = {VariantState.SKIPPED}"
_FIXED_RULES = "SELECT host, rule, met, tried, agreed, due_at, reason FROM fixed_rules"
_ADD_FIXED_RULE = """
INSERT INTO fixed_rules VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (host, rule) DO UPDATE SET
    met = met + excluded.met, tried = tried + excluded.tried, agreed = agreed + excluded.agreed,
    due_at = max(due_at, excluded.due_at), reason = coalesce(reason, excluded.reason)
"""


def merge_url_rules(database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys) -> None:
    """Copy learned rules, each once, the watched kinds of URLs, and what fixed rules came to.

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
        database.write_many(_ADD_CLUSTER, source.connection.execute(_CLUSTERS))
    _merge_fixed_rules(database, sources, parted)
    database.write_many(
        "INSERT INTO url_rules (rule, state, positives, explored, saved, origin, since, reason,"
        " tried) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((rule, *row) for rule, row in rules.items()),
    )


def _merge_fixed_rules(
    database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys
) -> None:
    """Copy variants and trials; what one crawl skipped by a rule that another revoked is due."""
    revoked: list[set[tuple[str, str]]] = []
    releasing: set[str] = set()
    for source in sources:
        database.write_many(_ADD_VARIANT, _variants(source, parted))
        rows = source.connection.execute(_FIXED_RULES).fetchall()
        database.write_many(_ADD_FIXED_RULE, rows)
        revoked.append({(host, rule) for host, rule, *_, reason in rows if reason})
        releasing.update(releasing_hosts(source.connection.execute))
    for source, known in zip(sources, revoked, strict=True):
        news = {host for host, _ in set().union(*revoked) - known}
        releasing |= news.intersection(
            host for (host,) in source.connection.execute(_HOSTS_SKIPPED)
        )
    parted.note_variants()
    database.set_meta(meta_names.FIXED_RELEASING, json.dumps(sorted(releasing)))


def _variants(source: MergedCrawl, parted: PartedKeys) -> Iterator[tuple[object, ...]]:
    """Yield the variants of a crawl; the first URL of a page that was parted is no variant."""
    for key, page, standing, *rest in source.connection.execute(_VARIANTS):
        if key != page:
            taken_for = parted.key(source.number, standing)
            yield key, page, taken_for, *rest
        elif parted.own(source.number, key) is None:
            yield key, page, standing, *rest


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
