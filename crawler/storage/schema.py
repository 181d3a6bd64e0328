"""Define the tables of ``crawl.db``, the one file that holds the truth of a crawl.

``docs/formats.md`` has the grammar and an example.
"""

from __future__ import annotations

from crawler.storage.states import SKIPPED, UNFINISHED, WAITING, VariantState

SCHEMA_VERSION = 31

HOST_BLOCKS = """host_blocks (        -- in how many pages of a host each block of text stands
    host   INTEGER PRIMARY KEY,   -- as in wall_clusters
    texts  INTEGER NOT NULL,      -- pages that were counted
    error  INTEGER NOT NULL,      -- a block may stand in so many pages more than was counted
    last   INTEGER NOT NULL,      -- pages.id of the last page that was counted
    blocks BLOB NOT NULL          -- 12 bytes each, ascending: hash, pages; little-endian
) STRICT;"""

BOILERPLATE = f"CREATE TEMP TABLE {HOST_BLOCKS}"
"""The table ``host_blocks`` for counts that are made beside those of the crawl."""

TABLES = f"""
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
    id       INTEGER PRIMARY KEY,   -- order of arrival
    state    INTEGER NOT NULL -- storage.states.RequestState
        CHECK (state BETWEEN {WAITING} AND {SKIPPED}),
    tries    INTEGER NOT NULL CHECK (tries >= 0), -- how often it broke
    priority INTEGER NOT NULL,
    depth    INTEGER NOT NULL CHECK (depth >= 0), -- links from a seed to it, the fewest known
    host     INTEGER NOT NULL,      -- hash of the host's name, 63 bits
    url      TEXT NOT NULL,         -- empty: seen without a request of its own, and done
    key      BLOB CHECK (length(key) = 16), -- request fingerprint; NULL: others may have it too
    fixed    INTEGER NOT NULL CHECK (fixed IN (0, 1)), -- 1: no rule may skip it
    rule     INTEGER,               -- what skipped it, and NULL in every other state
    group_digest BLOB,              -- then: its group, as in url_groups
    request  BLOB NOT NULL          -- the rest of the request, JSON; empty when done
) STRICT;
CREATE UNIQUE INDEX requests_key ON requests (key) WHERE key IS NOT NULL;
CREATE INDEX requests_todo ON requests (host, priority DESC, depth, id) WHERE state = {WAITING};
CREATE INDEX requests_unfinished ON requests (id) WHERE state IN ({UNFINISHED});
CREATE INDEX requests_skipped ON requests (group_digest) WHERE state = {SKIPPED};
CREATE INDEX requests_skipped_of_host ON requests (host) WHERE state = {SKIPPED};
-- Of any state, so that a request that is through changes no index but requests_todo.
CREATE INDEX requests_of_host ON requests (host) WHERE url != '';

CREATE TABLE hosts (
    host     INTEGER PRIMARY KEY,   -- one that has requests to do
    priority INTEGER NOT NULL,      -- of the most urgent one
    turn     INTEGER NOT NULL CHECK (turn >= 0) -- its place in the line of that priority
) STRICT;
CREATE INDEX hosts_line ON hosts (priority DESC, turn);

CREATE TABLE host_turns (           -- turns that hosts had since ``hosts`` was written
    turn INTEGER PRIMARY KEY CHECK (turn >= 0), -- as in hosts; the last one of a host holds
    host INTEGER NOT NULL
) STRICT;

CREATE TABLE host_pauses (          -- hosts that refused, or did not answer, in this visit
    host        INTEGER PRIMARY KEY, -- as in requests
    name        TEXT NOT NULL,
    until       REAL NOT NULL,      -- when its last pause is over, seconds since 1970
    number      INTEGER NOT NULL,   -- of that pause in a row; 0: the host has answered well since
    waited_secs REAL NOT NULL,      -- length of all pauses in that row
    pauses      INTEGER NOT NULL,   -- in this visit
    total_secs  REAL NOT NULL,      -- length of all of them
    reason      TEXT NOT NULL       -- of the last one
) STRICT;

CREATE TABLE url_rules (
    id        INTEGER PRIMARY KEY,
    state     INTEGER NOT NULL,     -- storage.states.RuleStatus
    rule      TEXT NOT NULL,        -- JSON: where it holds, and what does not matter there
    positives INTEGER NOT NULL CHECK (positives >= 0), -- texts met at two URLs that it makes one
    explored  INTEGER NOT NULL CHECK (explored >= 0), -- requests that were made to try it
    saved     INTEGER NOT NULL CHECK (saved >= 0), -- requests that it skipped in earlier visits
    tried     TEXT NOT NULL CHECK (json_valid(tried)), -- path patterns and values tried with it
    origin    TEXT NOT NULL,        -- learned, or a file; docs/urls.md: a standard rule
    since     REAL NOT NULL CHECK (since >= 0), -- seconds since 1970
    reason    TEXT                  -- why it does not hold any more
) STRICT;

CREATE TABLE url_groups (
    group_digest BLOB PRIMARY KEY -- digest of an address after the learned rules
        CHECK (length(group_digest) = 16),
    host       INTEGER NOT NULL,    -- as in requests
    key        BLOB NOT NULL,       -- of the request that stands for it
    words      BLOB,                -- pages.words_digest of what was there
    kept       INTEGER,             -- pages.id of the kept page that it is, or repeats
    similarity REAL,                -- to that one
    page       INTEGER,             -- pages.id of the capture
    links      INTEGER,             -- of it that are followed
    visit      INTEGER,
    tries      INTEGER NOT NULL CHECK (tries >= 0), -- further URLs tried, as there was no page
    explored   INTEGER NOT NULL CHECK (explored IN (0, 1)), -- 1: a second URL of it was fetched
    tested     TEXT NOT NULL        -- JSON: forms of its URLs that led to one text; or empty
) STRICT, WITHOUT ROWID;
CREATE INDEX url_groups_host ON url_groups (host);
CREATE INDEX url_groups_page ON url_groups (page) WHERE page IS NOT NULL;

CREATE TABLE url_kinds (            -- what came of the URLs of a kind
    id       INTEGER PRIMARY KEY,   -- negated, it is the rule of a request that is skipped for it
    question TEXT NOT NULL          -- what a try of it answers by yes or no
        CHECK (question IN ('text', 'browser', 'file', 'place', 'link')),
    name     TEXT NOT NULL,         -- such as host, path pattern, names of arguments
    met      INTEGER NOT NULL CHECK (met >= 0), -- URLs that were found
    tried    INTEGER NOT NULL CHECK (tried >= 0), -- those that were tried; of text in this visit
    gained   INTEGER NOT NULL CHECK (gained >= 0), -- answers yes; of text also behind redirects
    barren   INTEGER NOT NULL CHECK (barren >= 0), -- tries since the last yes
    unclear  INTEGER NOT NULL CHECK (unclear >= 0), -- those of them with a doubtful no
    deepest  INTEGER NOT NULL CHECK (deepest >= 0), -- the largest depth of a URL that was found
    recent   INTEGER NOT NULL CHECK (recent > 0), -- the last forty, a bit each, behind a 1
    state    TEXT NOT NULL CHECK (state IN ('open', 'slow', 'closed')),
    reason   TEXT                   -- why it is not open
) STRICT;
CREATE UNIQUE INDEX url_kinds_name ON url_kinds (question, name);

CREATE TABLE file_links (           -- those that were not asked for
    key    BLOB PRIMARY KEY,        -- request fingerprint
    kind   TEXT NOT NULL,           -- url_kinds.name
    wider  TEXT NOT NULL,           -- that of its host and its ending; of a place the same
    url    TEXT NOT NULL,
    depth  INTEGER NOT NULL,
    source TEXT NOT NULL            -- URL of the page on which it was met; empty: not known
) STRICT, WITHOUT ROWID;
CREATE INDEX file_links_kind ON file_links (kind, wider);

CREATE TABLE redirects (
    key    BLOB PRIMARY KEY CHECK (length(key) = 16), -- fingerprint of the URL that redirects
    url    TEXT NOT NULL,
    target BLOB NOT NULL CHECK (length(target) = 16), -- request fingerprint of where it leads
    fragment TEXT NOT NULL DEFAULT '' -- of where it leads
) STRICT, WITHOUT ROWID;

CREATE TABLE spellings (
    key   BLOB NOT NULL,            -- request fingerprint of all spellings of a URL
    place INTEGER NOT NULL,         -- in the order in which they were met
    url   TEXT NOT NULL,
    state INTEGER NOT NULL,         -- storage.states.SpellingState
    PRIMARY KEY (key, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE variants (             -- URLs that fixed rules take for one page
    key      BLOB PRIMARY KEY,      -- of its exact form; of the first URL that of the page
    page     BLOB NOT NULL,         -- request fingerprint that the fixed rules give all of them
    standing BLOB,                  -- key of the URL that it is taken for; NULL: it is the first
    host     TEXT NOT NULL,         -- with its port
    rules    TEXT NOT NULL,         -- names of the fixed rules by which it is, with commas
    url      TEXT NOT NULL,
    state    INTEGER NOT NULL,      -- storage.states.VariantState
    depth    INTEGER NOT NULL,      -- of the request that is made of it, if it is skipped
    source   TEXT NOT NULL          -- URL of the page on which it was met; empty: not known
) STRICT, WITHOUT ROWID;
CREATE INDEX variants_page ON variants (page);
CREATE INDEX variants_skipped ON variants (host, page, key)
    WHERE state = {VariantState.SKIPPED};

CREATE TABLE files (
    id             INTEGER PRIMARY KEY,
    key            BLOB NOT NULL,   -- request fingerprint of its URL, as in pages
    url            TEXT NOT NULL,   -- that answered
    path           TEXT NOT NULL,   -- of the file below the mirror's folder
    path_key       TEXT NOT NULL,   -- by which two paths are one file on some file systems
    content_type   TEXT,
    is_document    INTEGER NOT NULL, -- 1: it may hold links
    is_page        INTEGER NOT NULL,
    is_seed        INTEGER NOT NULL,
    payload_digest BLOB NOT NULL,   -- xxh3-128 of what was served
    state          TEXT NOT NULL,   -- own: has a file; link: another one stands for it
    stand_in       INTEGER,         -- files.id of that one; NULL: no more
    size           INTEGER NOT NULL, -- of the file, bytes
    digest         BLOB NOT NULL,   -- xxh3-128 of the file
    patch          BLOB NOT NULL,   -- from the file back to what was served, empty: nothing to do
    old_digest     BLOB,            -- the same two of what it held before: a process that is
    old_patch      BLOB,            -- killed may not have come to write it
    is_linked      INTEGER NOT NULL, -- 1: a document of the mirror links to it
    is_cut         INTEGER NOT NULL, -- 1: only a part of what the site has came
    has_modules    INTEGER NOT NULL -- 1: it runs modules, which browsers refuse to load from a disk
) STRICT;
CREATE UNIQUE INDEX files_key ON files (key);
CREATE UNIQUE INDEX files_path ON files (path_key);
CREATE INDEX files_digest ON files (digest);

CREATE TABLE file_parts (
    id   INTEGER PRIMARY KEY,       -- files.id of a part that can be continued
    etag TEXT NOT NULL              -- of the version that it is of, by which the rest is requested
) STRICT;

CREATE TABLE downloads (            -- bodies that are on their way to the disk
    key    BLOB PRIMARY KEY,        -- of the URL; in hexadecimal, the name of the file
    etag   TEXT NOT NULL,           -- of the version that it is of, by which the rest is requested
    size   INTEGER NOT NULL,        -- its first bytes, as many as are known to be there
    digest BLOB NOT NULL            -- their payload digest
) STRICT, WITHOUT ROWID;

CREATE TABLE file_redirects (
    key    BLOB PRIMARY KEY CHECK (length(key) = 16), -- as in redirects, of every visit so far
    target BLOB NOT NULL CHECK (length(target) = 16),
    fragment TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TABLE known (
    key           BLOB PRIMARY KEY CHECK (length(key) = 16), -- of a requested URL, as in pages
    visit         INTEGER NOT NULL CHECK (visit >= 0), -- the last one that asked
    outcome       TEXT NOT NULL
        CHECK (outcome IN ('new', 'changed', 'unchanged', 'moved', 'gone', 'forbidden', 'failed')),
    since         INTEGER NOT NULL -- the first visit in a row with that outcome
        CHECK (since BETWEEN 0 AND visit),
    reason        TEXT,
    moved_to      TEXT,             -- URL
    distance      INTEGER CHECK (distance BETWEEN 0 AND 64), -- of a changed page to its last text
    similarity    REAL CHECK (similarity BETWEEN 0 AND 1), -- the same, Jaccard
    is_near       INTEGER NOT NULL CHECK (is_near IN (0, 1)), -- 1: so small a change counts as none
    not_sent      INTEGER NOT NULL -- 1: the server said that it is unchanged, and sent nothing
        CHECK (not_sent IN (0, 1)),
    was_away      INTEGER NOT NULL CHECK (was_away IN (0, 1)), -- 1: no page at the visit before
    interval_secs REAL NOT NULL CHECK (interval_secs >= 0), -- from one visit to the next
    due_at        REAL NOT NULL,    -- seconds since 1970
    referer       TEXT,             -- sent with the last request that had one
    checksum      INTEGER           -- as in pages
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
    id     INTEGER PRIMARY KEY,     -- in order: a table in the order of keys is a third empty
    key    BLOB NOT NULL,           -- of the page
    shared INTEGER NOT NULL CHECK (shared IN (0, 1)), -- 1: packed with the dictionary
    urls   BLOB NOT NULL,           -- zstd; crawler/pages/page_links.py has the grammar
    places BLOB,                    -- zstd, JSON: reading.Places; NULL: they were not asked for
    checksum INTEGER                -- as in pages
) STRICT;
CREATE UNIQUE INDEX links_key ON links (key);

CREATE TABLE external_links (       -- to other sites, that crawl-once links asked
    url      TEXT PRIMARY KEY,
    asked_at REAL NOT NULL,         -- seconds since 1970
    reason   TEXT NOT NULL          -- why it is dead, in words; empty: it is not
) STRICT, WITHOUT ROWID;

CREATE TABLE link_dictionary (
    id   INTEGER PRIMARY KEY,       -- 1
    urls BLOB NOT NULL
) STRICT;

CREATE TABLE pages (
    id             INTEGER PRIMARY KEY CHECK (id > 0), -- one capture; its id in the indexes
    key            BLOB NOT NULL,        -- hash of the canonical URL, 16 bytes
    url            TEXT NOT NULL,        -- as requested
    canonical_url  TEXT NOT NULL,
    latest         INTEGER NOT NULL CHECK (latest IN (0, 1)), -- 1: the newest one under this key
    visit          INTEGER NOT NULL CHECK (visit >= 0), -- the visit that captured it
    fetched_at     REAL NOT NULL,        -- seconds since 1970
    seen_visit     INTEGER NOT NULL CHECK (seen_visit >= visit), -- the last that found it unchanged
    seen_at        REAL NOT NULL,
    depth          INTEGER NOT NULL CHECK (depth >= 0),
    status         INTEGER,              -- HTTP status; NULL where no answer came
    content_type   TEXT,
    etag           TEXT,
    last_modified  TEXT,
    body_bytes     INTEGER NOT NULL CHECK (body_bytes >= 0),
    title          TEXT,                 -- without the name of the site
    name           TEXT,                 -- what it is called, as neardup.names.Name.packed has it
    author         TEXT,
    date           TEXT,
    language       TEXT,
    declared_url   TEXT,                 -- rel=canonical of the page
    metadata       TEXT,                 -- JSON, the rest of it; crawler/pages/page_row.py
    words          INTEGER CHECK (words >= 0),
    is_main        INTEGER CHECK (is_main IN (0, 1)), -- 1: a fingerprint may stand for its text
    payload_digest BLOB,                 -- xxh3-128 of the body; NULL: the text is of another one
    visible_digest BLOB CHECK (length(visible_digest) = 16), -- xxh3-128 of all visible text, folded
    text_digest    BLOB,                 -- xxh3-128 of the judged text with its whole, folded
    last_payload_digest BLOB CHECK (length(last_payload_digest) = 16), -- of its URL's last body
    last_text_digest    BLOB CHECK (length(last_text_digest) = 16), -- of its text; NULL: none
    words_digest   BLOB CHECK (length(words_digest) = 16), -- of the words of that, in any order
    links          INTEGER NOT NULL CHECK (links >= 0), -- how many of it are followed
    fingerprint    INTEGER,              -- SimHash, the 64 bits read as a signed number
    verdict        TEXT NOT NULL,
    reason         TEXT,
    duplicate_of   INTEGER,              -- pages.id of the kept page
    resembles      INTEGER,              -- pages.id of the kept page of another name
    part_of        INTEGER,              -- pages.id of the kept page that it is a part of
    distance       INTEGER CHECK (distance BETWEEN 0 AND 64), -- bits
    similarity     REAL CHECK (similarity BETWEEN 0 AND 1), -- Jaccard
    containment    REAL CHECK (containment BETWEEN 0 AND 1), -- of it in that page or its original
    parameters     INTEGER,              -- parameters.id of the verdict; NULL: not of a text
    better_copy    INTEGER NOT NULL CHECK (better_copy IN (0, 1)), -- 1: the better one to keep
    page_type      TEXT,                 -- of its content: article, forum, ...; NULL: not known
    content_source TEXT,                 -- what found its content, a short code
    text           BLOB,                 -- what is judged, zstd; with its whole, neardup/whole.py
    content        BLOB,                 -- what is shown, zstd; reading/content_xml.py
    html           BLOB,                 -- zstd, where PAGES_KEEP_HTML is set
    checksum       INTEGER NOT NULL      -- of the rest of the row; checksum_sql
) STRICT;
CREATE INDEX pages_key ON pages (key);
CREATE INDEX pages_payload ON pages (payload_digest)
    WHERE verdict IN ('new', 'changed', 'too_short', 'same_template', 'not_html');
CREATE INDEX pages_visible ON pages (visible_digest) WHERE text IS NOT NULL;
CREATE INDEX pages_text ON pages (text_digest, latest) WHERE text IS NOT NULL;
CREATE INDEX pages_duplicate ON pages (duplicate_of, latest) WHERE duplicate_of IS NOT NULL;
CREATE INDEX pages_copies ON pages (text_digest) WHERE duplicate_of IS NOT NULL AND latest = 1;
CREATE INDEX pages_resembles ON pages (resembles) WHERE resembles IS NOT NULL;
CREATE INDEX pages_part_of ON pages (part_of) WHERE part_of IS NOT NULL;
CREATE INDEX pages_better ON pages (latest) WHERE better_copy = 1;
CREATE INDEX pages_visit ON pages (visit, verdict);
CREATE INDEX pages_fingerprint ON pages (id, fingerprint)
    WHERE fingerprint IS NOT NULL AND verdict IN ('new', 'changed', 'too_short', 'same_template');

CREATE TABLE elsewhere (          -- originals that another crawl of the fleet has
    page        INTEGER PRIMARY KEY, -- pages.id of a duplicate, whose duplicate_of is NULL
    key         BLOB NOT NULL,    -- pages.key of its original, there
    url         TEXT NOT NULL,
    text_digest BLOB              -- of what that was kept with; NULL: it is a file
) STRICT;
CREATE INDEX elsewhere_key ON elsewhere (key);

CREATE TABLE near_texts (         -- of duplicates with words of their own, to judge them again
    page INTEGER PRIMARY KEY,     -- pages.id, of a newest capture
    text BLOB NOT NULL,           -- as in pages
    content BLOB NOT NULL,
    checksum INTEGER              -- as in pages
) STRICT;

CREATE TABLE wall_clusters (      -- short texts that answer at several URLs, or may yet do so
    id       INTEGER PRIMARY KEY,
    host     INTEGER NOT NULL,    -- hash of the name of the host with its port, 63 bits
    skeleton BLOB NOT NULL CHECK (length(skeleton) = 16), -- of the text without parts of its URL
    kind     TEXT NOT NULL,       -- content_types.WallKind, or empty
    links    BLOB NOT NULL,       -- 4 bytes of the key of each link of the first page, sorted
    names    BLOB NOT NULL,       -- 4 bytes of the hash of each last name of a path, few of them
    folders  BLOB NOT NULL,       -- the same of what stands before it
    has_seed INTEGER NOT NULL CHECK (has_seed IN (0, 1)), -- 1: a seed has it, so it is no soft 404
    verdict  TEXT CHECK (verdict IN ('soft_404', 'wall')), -- NULL: it is none yet
    reason   TEXT,
    is_given INTEGER NOT NULL CHECK (is_given IN (0, 1)) -- 1: all of its pages have the verdict
) STRICT;
CREATE INDEX wall_clusters_ungiven ON wall_clusters (id)
    WHERE verdict IS NOT NULL AND is_given = 0;
CREATE UNIQUE INDEX wall_clusters_skeleton ON wall_clusters (host, skeleton);

CREATE TABLE wall_pages (         -- captures whose text is that of a cluster
    page     INTEGER PRIMARY KEY, -- pages.id
    cluster  INTEGER NOT NULL,    -- wall_clusters.id
    replaced INTEGER              -- pages.id of the last capture of the page that has none
) STRICT;
CREATE INDEX wall_pages_cluster ON wall_pages (cluster);
CREATE INDEX wall_pages_replaced ON wall_pages (replaced) WHERE replaced IS NOT NULL;

CREATE TABLE wall_probes (        -- URLs that cannot exist, one a host and visit
    host     INTEGER PRIMARY KEY, -- as in wall_clusters
    url      TEXT NOT NULL,
    skeleton BLOB                 -- of the answer, empty: no page or a long one; NULL: none yet
) STRICT;

CREATE TABLE {HOST_BLOCKS}

CREATE TABLE name_slots (         -- words of names that may change although the text does not
    host          INTEGER NOT NULL, -- as in wall_clusters
    slot          TEXT NOT NULL,  -- as neardup.volatile.slots has it
    keys          BLOB NOT NULL,  -- 4 bytes of pages.key of each URL where it changed, two at most
    changed_visit INTEGER NOT NULL, -- the first visit in which it changed, 0: none
    visit         INTEGER NOT NULL, -- when it had changed at two URLs and in two visits, 0: never
    is_fixed      INTEGER NOT NULL, -- 1: it was the same at a later visit
    PRIMARY KEY (host, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE superseded (         -- old captures that still have duplicates, until the visit ends
    page INTEGER PRIMARY KEY      -- pages.id, of a capture that is not its page's newest
) STRICT;

CREATE TABLE parameters (         -- with which verdicts are made; the newest row holds
    id     INTEGER PRIMARY KEY,
    since  REAL NOT NULL CHECK (since >= 0), -- seconds since 1970
    origin TEXT NOT NULL,         -- settings, tune, lab
    chosen TEXT NOT NULL          -- JSON, the words of neardup.Parameters
) STRICT;

CREATE TABLE labels (             -- what a person said of two texts
    first       BLOB NOT NULL CHECK (length(first) = 16), -- pages.text_digest, the smaller one
    second      BLOB NOT NULL CHECK (length(second) = 16 AND second > first),
    label       TEXT NOT NULL CHECK (label IN ('duplicate', 'different')),
    first_url   TEXT NOT NULL,
    second_url  TEXT NOT NULL,
    labelled_at REAL NOT NULL CHECK (labelled_at >= 0), -- seconds since 1970
    PRIMARY KEY (first, second)
) STRICT, WITHOUT ROWID;
"""
