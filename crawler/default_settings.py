"""Every setting of ours: name, default, meaning. Scrapy's own settings are not listed here.

The add-on sets each of them with the priority "addon": a project's settings, a
spider's and the command line's ``-s NAME=VALUE`` win.
"""

from __future__ import annotations

NEARDUP_ENABLED = True
"""Judge pages and items at all; False makes the add-on stand aside."""

NEARDUP_MAX_DISTANCE = 3
"""Fingerprints at most this many bits apart (0 to 8) match."""

NEARDUP_VERIFY = True
"""Confirm matches and candidates by the texts' Jaccard similarity; False: the distance decides."""

NEARDUP_MIN_SIMILARITY = 0.8
"""Least Jaccard similarity (0 to 1, word 5-shingles) that confirms a candidate."""

NEARDUP_COMPARE_NAMES = True
"""Keep pages of nearly the same words whose names differ: title, heading, opening, identifiers."""

NEARDUP_IGNORE_BOILERPLATE = True
"""Keep pages of nearly the same words that say other things outside the host's boilerplate."""

NEARDUP_DROP_CONTAINED = False
"""Drop pages whose shingles stand to nine tenths in a kept page, unless their names differ."""

NEARDUP_MIN_WORDS = 50
"""Texts of fewer words are duplicates only where they are equal, case and space apart."""

NEARDUP_FEATURES = ""
"""Features of fingerprints, like word-3-set; empty: by NEARDUP_VERIFY; fixed for a directory."""

NEARDUP_FOLLOW_DUPLICATES = True
"""Queue the links of duplicates too; False saves fetches and can miss pages that only they link."""

NEARDUP_MARKDOWN = False
"""Give items and feeds of our spiders a field ``markdown``: the main content as Markdown."""

NEARDUP_URL_FIELDS = ["url"]
"""Fields of foreign items that may hold the page's URL; the first one that is there counts."""

NEARDUP_TITLE_FIELDS = ["title", "name"]
"""Fields of foreign items that may hold the title; the first one that is there counts."""

NEARDUP_TEXT_FIELDS = ["text"]
"""Fields of foreign items that hold the text to judge; of several their texts are one."""

NEARDUP_HTML_FIELDS = ["html", "body"]
"""Fields of foreign items that may hold HTML, read for its text where there is no text field."""

URLS_DISABLED_RULES: list[str] = []
"""Names of URL rules to switch off (docs/urls.md lists them); fixed for a crawl directory."""

READING_WORKERS = 0
"""Worker processes that read pages, started as pages wait for them; 0 means one a core."""

READING_TIMEOUT_SECS = 20.0
"""Time of a worker, its stops not counted, to read a page; then another one tries it, once."""

READING_MEMORY_LIMIT_MB = 1024
"""A worker that wants more memory for a page gives it up as unreadable."""

READING_MAX_LINKS = 100_000
"""Distinct links taken from one page; what is cut is counted."""

NEARDUP_DOCUMENTS = True
"""Judge the text of PDF (extra ``documents``), Word, slides, OpenDocument, EPUB, text and feeds."""

NEARDUP_DOCUMENT_LINKS = True
"""Follow the links of documents too; a PDF costs the same without."""

PAGES_KEEP_HTML = False
"""Store the HTML of kept pages beside their text."""

PAGES_KEEP_VERSIONS = 2
"""Texts kept of a page that changes, the newest among them; 0 keeps all."""

PAGES_KEEP_NEAR_TEXTS = True
"""Store the texts of near-duplicates too, as those of parts always are, for crawl-once rejudge."""

CRAWL_DIRECTORY = "crawls"
"""Directory of the states of crawls without JOBDIR: each host has a folder below this one."""

CRAWL_OBEY_NOFOLLOW = True
"""Do not follow links marked rel=nofollow."""

CRAWL_OBEY_ROBOTS_META = True
"""Obey noindex, nofollow and none in robots meta tags and X-Robots-Tag headers."""

CRAWL_OBEY_CRAWL_DELAY = True
"""Obey the Crawl-delay of robots.txt."""

CRAWL_MAX_CRAWL_DELAY_SECS = 60.0
"""A longer Crawl-delay is cut to this."""

CRAWL_PAUSE_SECS = 2.0
"""A host that refuses, or whose robots.txt cannot be had, rests this long, then twice as long."""

CRAWL_MAX_PAUSE_SECS = 600.0
"""No pause of a host is longer, whatever Retry-After says."""

CRAWL_RETRY_BUDGET_SECS = 600.0
"""A URL refused after it was waited for this long has failed; six times this gives a host up."""

CRAWL_PRIVATE_ADDRESSES = False
"""Let a crawl of public seeds go to loopback, link-local and private addresses."""

CRAWL_MAX_HEADER_BYTES = 262_144
"""An answer whose status line and headers are larger than this is given up."""

CRAWL_MAX_COOKIES = 100
"""Cookies kept of one domain, and taken from one answer; the oldest go first."""

CRAWL_OMIT_COOKIES = True
"""Send no cookies to a host whose pages are the same without, but for links that others have."""

CRAWL_MIN_FREE_BYTES = 268_435_456
"""A crawl stops when fewer bytes are free on the disk of its directory; 0 looks at none."""

CRAWL_MAX_ROBOTS_BYTES = 512_000
"""Bytes of a robots.txt that are downloaded and read, at most; RFC 9309 asks for 500 KiB."""

CRAWL_LEARN_URL_RULES = True
"""Learn which parts of URLs do not matter, and fetch one URL of each page; wants a JOBDIR."""

CRAWL_URL_RULE_CONFIDENCE = 0.8
"""A learned rule must hold in at least this share of all cases (0.5 to 0.99), 95 times in 100."""

CRAWL_LEARN_ACROSS_DOMAINS = False
"""Learn too that a host of one registered domain serves the pages of a host of another one."""

CRAWL_BREADTH_FIRST = False
"""Request all kinds of URLs in the order of depth; else those first that lead to most new texts."""

CRAWL_MAX_PAGES_PER_CLUSTER = 0
"""Pages fetched in a visit of one kind of URL: host, path pattern, names of arguments; 0: any."""

CRAWL_LOG_FORMAT = "text"
"""Format of log lines: text, or json for an object a line (docs/monitoring.md)."""

CRAWL_FIND_WALLS = True
"""Recognise soft 404s, logins and the like that many URLs answer with, and keep none of them."""

CRAWL_MAX_SITEMAPS = 1_000
"""Sitemaps fetched in one visit of a site, however often it is stopped."""

CRAWL_MAX_SITEMAP_BYTES = 52_428_800
"""Size of a sitemap, also unpacked; sitemaps.org allows no more."""

CRAWL_MAX_SITEMAP_URLS = 50_000
"""URLs taken from one sitemap; sitemaps.org allows no more."""

CRAWL_SKIPPED_EXTENSIONS = (
    "7z avi bin bmp bz2 css deb dmg doc docx dvi eot eps exe flac gif gz ico iso jar jpeg jpg js "
    "m4a mid mkv mov mp3 mp4 mpeg mpg odp ods odt ogg otf pdf png pps ppt pptx ps rar rpm rss svg "
    "tar tgz tif tiff ttf wav webm webp wmv woff woff2 xls xlsx xz zip zst"
).split()
"""Links that end so are asked for last, and not at all where many were files."""

CRAWL_REVISIT_INTERVAL_SECS = 604_800.0
"""Time after which a page that was just found is due for --revisit due: a week."""

CRAWL_REVISIT_MIN_INTERVAL_SECS = 3_600.0
"""However often it changes, a page is due no sooner than this after a visit."""

CRAWL_REVISIT_MAX_INTERVAL_SECS = 7_776_000.0
"""However seldom it changes, a page is due no later than this after a visit: 90 days."""

CRAWL_REVISIT_SHORTER_RATE = 0.3
"""Part of its interval that a page loses at a visit that finds another text (0 to 1)."""

CRAWL_REVISIT_LONGER_RATE = 0.4
"""Part that is added to its interval at a visit that finds the same text, or nearly the same."""

CRAWL_RENDER_TIMEOUT_SECS = 20.0
"""Time that a page may take in the browser; what it shows by then is read (docs/rendering.md)."""

CRAWL_RENDER_MAX_REQUESTS = 200
"""Requests of one page in the browser that are answered; further ones are refused."""

CRAWL_RENDER_MAX_BYTES = 50_000_000
"""Bytes of all answers to the requests of one page in the browser, and of its DOM."""

CRAWL_RENDER_WAIT_FOR = ""
"""CSS selector that each page in the browser waits for; empty: until network and DOM are quiet."""

CRAWL_RENDER_BEHAVIOURS = ["routes"]
"""Actions on pages in the browser, of scroll, click and routes."""

CRAWL_RENDER_CONCURRENCY = 0
"""Pages that are in the browser at a time; 0 means one a core."""

CRAWL_RENDER_BROWSER = ""
"""Path of the browser; empty: the first Chromium on PATH, else Playwright's own."""

CRAWL_RENDER_BROWSER_MAX_MB = 1_500
"""Megabytes of a browser at which it is replaced, and of one page at which that is ended."""

MIRROR_DIRECTORY = "mirrors"
"""Directory of mirrors for which none is named: each host has a folder below it."""

WARC_ENABLED = False
"""Record every answer that comes over the network in WARC files (docs/warc.md)."""

WARC_FOLDER = ""
"""Directory of the WARC files; empty: the folder warc below JOBDIR."""

WARC_NETWORK = False
"""Record the address of each host and its TLS, with its certificates, in the WARC files too."""

WARC_MAX_FILE_BYTES = 1_000_000_000
"""End a WARC file at this size, and begin the next one."""

FLEET_ENABLED = False
"""Crawl as one of many workers that share a Redis (docs/fleet.md)."""

FLEET_REDIS_URL = "redis://127.0.0.1:6379/0"
"""URL of that Redis: redis://HOST:PORT/DATABASE, rediss:// with TLS; password: REDIS_PASSWORD."""

FLEET_NAME = ""
"""Name of the fleet, the same for all its workers; empty: the name of a crawl's folder."""

FLEET_LEASE_SECS = 60.0
"""Time without a heartbeat after which a worker is taken for dead; the same for all workers."""

FLEET_SHARDS = 0
"""Parts of the frontier, fixed when a fleet begins; 0: 1 in one Redis, 4 in a cluster."""

FLEET_MAX_HOSTS = 256
"""Hosts that one worker asks at a time, at most; each host is asked by one worker at a time."""

FLEET_MAX_LEASED = 64
"""Requests that wait at one worker, at most; beside those that its downloader has."""

PROGRESS_ENABLED = True
"""Show progress: a live panel on a terminal, plain lines elsewhere."""

PROGRESS_INTERVAL_SECS = 10.0
"""Time between two plain lines of progress, and between two versions of status.json."""

PROGRESS_STATUS_FILE = True
"""Replace the file status.json in the crawl directory while the crawl runs (docs/monitoring.md)."""

METRICS_PORT = ""
"""Port at which /metrics is served for Prometheus, 0 for any free one; empty: it is not served."""

METRICS_HOST = "127.0.0.1"
"""IP address or name of this machine at which /metrics is served."""
