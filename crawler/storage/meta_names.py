"""List the names of the rows of the table ``meta`` of ``crawl.db``, with what each holds.

Values are text: a number in decimals, or JSON where the line says so.
"""

from __future__ import annotations

from typing import Final

SCHEMA: Final = "schema_version"
"""The version of the schema, which another version of the program refuses."""

URL_RULES: Final = "URL rules (URLS_DISABLED_RULES)"
"""The canonicalization rules with which keys are made, named as messages name them."""

FEATURES: Final = "features (NEARDUP_FEATURES)"
"""The features that make fingerprints, named as messages name them."""

IDENTITY: Final = (URL_RULES, FEATURES)
"""Settings on which keys and fingerprints depend: a directory has one value of each for good."""

PLAN: Final = "plan"
"""The plan of the crawl: the seeds and options to fetch by, as its spider writes it."""

ARGUMENTS: Final = "arguments"
"""JSON object: the arguments of the last crawl but for those of one visit, such as its limits."""

SCOPES: Final = "scopes"
"""JSON list: the scopes that were crawled into this directory, as ``scope_name`` names them."""

VISIT: Final = "visit"
"""The number of the visit that is under way, or was the last."""

LAST_VISIT: Final = "last_visit"
"""The number of the last visit that captured a page or found one unchanged."""

VISIT_PLAN: Final = "visit_plan"
"""The plan of the visit that is under way, or was the last."""

QUEUEING: Final = "queueing"
"""1 while known pages are still to be queued in this visit, 0 afterwards, else empty."""

FOLLOWED_AGAIN: Final = "followed_again"
"""The last page looked at again after a scope moved or a duplicate was kept; empty: none left."""

SITEMAPS: Final = "sitemaps"
"""The number of sitemaps that were requested in this visit."""

CUT_LISTS: Final = "cut_lists"
"""JSON list: URLs of sitemaps that list URLs out of scope, until they are read again."""

MOVED_SEEDS: Final = "moved_seeds"
"""JSON object: the target of each seed that was redirected, kept until the plan changes."""

LATE_COOKIES: Final = "late_cookies"
"""JSON object: domains with a cookie that pages were asked without, until they are asked again."""

PASSING: Final = "passing"
"""1 while answers that may have come for a while are asked for again in the end, else empty."""

HOST_COOKIES: Final = "host_cookies"
"""JSON object: what is known of the cookies of hosts, as ``HostCookies``."""

NO_ROBOTS: Final = "no_robots"
"""JSON object: hosts whose robots.txt answered that there is none, by the answer."""

PRIVATE_NAMES: Final = "private_names"
"""JSON list: private hosts that seeds and private pages led to."""

PUBLIC_NAMES: Final = "public_names"
"""JSON list: hosts whose addresses were public when they were requested."""

COUNTED_PAGE: Final = "counted_page"
"""The id of the last page whose blocks were counted for ``host_blocks``."""

BOILERPLATE_GROWN: Final = "boilerplate_grown"
"""0 if all near-duplicates were judged since a block last became boilerplate, else 1."""

STAGES: Final = "stages"
"""JSON object: seconds of this visit by stage of the crawl."""

COMPARISONS: Final = "comparisons"
"""JSON object: candidates of the texts of this visit, counted by what came of them."""

ANSWERS: Final = "answers"
"""JSON object: answers of all runs by the verdict given first, the ``bytes`` of all bodies, and the
``browser_requests`` of pages."""

BROWSER_REQUESTS: Final = "browser_requests"
"""Name in ``ANSWERS`` of the requests that pages made in the browser."""

OUTLOOK: Final = "outlook"
"""JSON list: known URLs that this visit asks for, and the number of answers before it."""

REFUSED_LINKS: Final = "refused_links"
"""JSON object: links of this visit that were not followed, counted by what kept them out."""

SPIDER_STATE: Final = "spider_state"
"""JSON: ``spider.state``, an attribute that Scrapy defines."""

FEEDS: Final = "feeds"
"""JSON object: the bytes where the part of this crawl begins and ends, by feed file."""

SETTINGS_PARAMETERS: Final = "settings_parameters"
"""JSON object: the parameters of the settings with which the crawl was last opened."""

BLOOM_KEYS: Final = "bloom_keys"
"""The number of keys in the Bloom filter's file, if it was saved by a process that ended well."""

REGROUPING: Final = "regrouping"
"""JSON list: hosts whose requests are still to be regrouped after a change of rules."""

REFUTED: Final = "refuted_rules"
"""JSON list: the evidence for and against rules that do not hold."""

BROWSER: Final = "browser"
"""The path of the browser of the last run that could show pages in one, or what is said of it."""

FIXED_RELEASING: Final = "fixed_releasing"
"""JSON list: hosts where a fixed rule was revoked and skipped variants are to be reconsidered."""

FLEET: Final = "fleet"
"""JSON object: the membership of a worker's directory in a fleet."""

MIRROR_URL: Final = "mirror_url"
"""The URL that the mirror was made of."""

MIRROR_OPTIONS: Final = "mirror_options"
"""JSON object: the options with which the mirror was last made."""

MIRROR_STALE: Final = "mirror_stale"
"""1 while files were stored since the links of the mirror were last rewritten, else 0."""

MIRROR_FINISHED: Final = "mirror_finished"
"""The values that the files of the finished mirror depended on, besides their own content."""


def replayed(path: object, start: int) -> str:
    """Return the name of the row that holds the place up to which an archive was replayed.

    Args:
        path: The absolute path of the WARC file.
        start: Byte of the file at which reading began.
    """
    return f"replayed {path} {start}"
