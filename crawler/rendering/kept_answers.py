"""Keep answers to pages' requests for the crawl, so that a script of many pages is fetched once."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from crawler.rendering.rendered_pages import SubAnswer, SubRequest

MAX_BYTES: Final = 64_000_000
"""Bytes of all answers that are kept; those that were used longest ago go first."""

_ENTRY_BYTES = 2_000
"""Bytes that an answer takes beside its body."""

_FOR_THE_CRAWL = frozenset({"script", "stylesheet"})
_BY_ITS_AGE = frozenset({"fetch", "xhr"})
# The crawler's own name, languages and codings do not change; origin and accept are in the key.
_SAME_FOR_ALL = frozenset(
    {"", "accept", "accept-encoding", "accept-language", "origin", "user-agent"}
)
_OF_BROWSERS = _SAME_FOR_ALL - {"accept-language"} | {"cache-control", "dnt", "pragma", "referer"}
"""Headers that a browser sends by itself."""

_FOR_ONE = frozenset({"authorization", "cookie", "range"})
_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?(\d+)", re.IGNORECASE)
_FOREVER = float("inf")


class AnswerKey(NamedTuple):
    """What tells answers apart."""

    url: str
    origin: str
    accept: str
    further: frozenset[tuple[str, str]]
    """Headers that scripts have added."""


class _Kept(NamedTuple):
    answer: SubAnswer
    ends_at: float


class KeptAnswers:
    """Answers to GET requests for scripts and styles, and for JSON as long as HTTP allows.

    Args:
        max_bytes: Bytes of all bodies together.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[AnswerKey, _Kept] = OrderedDict()

    def get(self, key: AnswerKey) -> SubAnswer | None:
        """Return a kept answer that is still valid. Complexity: O(1)."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.ends_at <= time.monotonic():
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept.answer

    def keep(self, key: AnswerKey, request: SubRequest, answer: SubAnswer) -> None:
        """Keep an answer if that is allowed."""
        secs = kept_secs(request, answer)
        size = _ENTRY_BYTES + len(answer.body)
        if not secs or size > max(self._max_bytes // 4, _ENTRY_BYTES):
            return
        self._drop(key)
        self._kept[key] = _Kept(answer, time.monotonic() + secs)
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: AnswerKey) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= _ENTRY_BYTES + len(kept.answer.body)


def key_of(request: SubRequest) -> AnswerKey | None:
    """Return the key of a request; None for one whose answer is never kept."""
    headers = dict(request.headers)
    is_kind = request.resource_type in _FOR_THE_CRAWL | _BY_ITS_AGE
    if request.method != "GET" or not is_kind or _FOR_ONE & headers.keys():
        return None
    url = request.url.partition("#")[0]
    further = frozenset(
        (name, value)
        for name, value in request.headers
        if name not in _OF_BROWSERS and not name.startswith(("sec-", ":"))
    )
    return AnswerKey(url, headers.get("origin", ""), headers.get("accept", ""), further)


def is_for_the_crawl(request: SubRequest) -> bool:
    """Return whether the answer is the same for all pages, which may wait for it together."""
    return request.resource_type in _FOR_THE_CRAWL


def kept_secs(request: SubRequest, answer: SubAnswer) -> float:
    """Return for how long an answer may be kept, in seconds; 0 if not at all."""
    if answer.status != 200:
        return 0.0
    joined: dict[str, str] = {}
    for name, value in answer.headers:
        joined[name.lower()] = f"{joined.get(name.lower(), '')},{value}"
    varies = {name.strip().lower() for name in joined.get("vary", "").split(",")}
    control = joined.get("cache-control", "").lower()
    if varies - _SAME_FOR_ALL or "no-store" in control or "private" in control:
        return 0.0
    if request.resource_type in _FOR_THE_CRAWL:
        return _FOREVER
    age = _AGE.search(control)
    is_json = "json" in joined.get("content-type", "").lower()
    return 0.0 if age is None or not is_json or "no-cache" in control else float(age[1])
