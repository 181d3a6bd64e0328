"""Select the lines of a robots.txt that are meant for a crawler; name the error without one.

Parsers keep each rule once for each user agent of its group, so that 64 kB of both take seconds and
hundreds of megabytes. Only the selected lines are given to a parser.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Protego reads them in this way: with a space for the hyphen, or without a colon.
_USER_AGENT = re.compile(r"user[- ]?agent\s*(?::|\s|$)", re.IGNORECASE)
_SITE_WIDE = re.compile(r"(?:sitemaps?|site-map|host)\s*(?::|\s|$)", re.IGNORECASE)
_RULE = re.compile(
    r"(?:dis|diss)al?low|diasllow|disallaw|dissalow|allow|crawl[- ]delay|request[- ]rate"
    r"|visit[- ]time",
    re.IGNORECASE,
)
_OF_A_TOKEN = re.compile(r"[\w-]")
_EVERYBODY = "*"


class RobotsUnreachableError(OSError):
    """A robots.txt cannot be fetched now, so that no page of its host may be requested.

    Args:
        reason: Cause of the failure.
        wanted_secs: Seconds for which the host asks to be left alone, or None.
    """

    def __init__(self, reason: str, wanted_secs: float | None = None) -> None:
        super().__init__(f"robots.txt cannot be had: {reason}")
        self.reason = reason
        self.wanted_secs = wanted_secs


class RobotsLines(NamedTuple):
    """The lines of a robots.txt that are meant for a crawler.

    Attributes:
        rules: Lines of all its groups, merged into one; none of them twice.
        site_wide: Lines of no group, such as ``Sitemap``.
    """

    rules: list[str]
    site_wide: list[str]

    def as_text(self) -> str:
        """Return a robots.txt with the same meaning for this crawler, addressed to every agent."""
        return "\n".join(["User-agent: *", *self.rules, *self.site_wide])


class _Group(NamedTuple):
    agents: list[str]
    rules: list[str]


def lines_for(text: str, agent: str) -> RobotsLines:
    """Return the lines of a robots.txt that are meant for a crawler.

    The groups of the longest product token in the crawler's name, whatever its case, are chosen;
    those of ``*`` if there is none.

    Args:
        text: The file.
        agent: User agent of the crawler, ``crawl-once/0.1`` for example.

    Complexity: O(len(text)). Reference: RFC 9309, section 2.2.
    """
    groups, site_wide = _groups(text)
    name = agent.lower()
    named: dict[str, int] = {}
    for group in groups:
        for token in group.agents:
            if token not in named:
                named[token] = _score(token, name)
    best = max(named.values(), default=0)
    chosen = {token for token, score in named.items() if score == best} if best else set()
    rules = [
        rule for group in groups if not chosen.isdisjoint(group.agents) for rule in group.rules
    ]
    # If there are two Crawl-delays, the last one holds.
    return RobotsLines([*dict.fromkeys(reversed(rules))][::-1], [*dict.fromkeys(site_wide)])


def _groups(text: str) -> tuple[list[_Group], list[str]]:
    groups: list[_Group] = []
    site_wide: list[str] = []
    is_begun = False
    for whole in text.splitlines():
        line = whole.partition("#")[0].strip()
        if not line:
            continue
        if _USER_AGENT.match(line):
            if is_begun or not groups:
                groups.append(_Group([], []))
                is_begun = False
            groups[-1].agents.extend(_tokens(line))
        elif _SITE_WIDE.match(line):
            site_wide.append(line)
        elif ":" in line or _RULE.match(line):
            is_begun = True
            if groups:
                groups[-1].rules.append(line)
    return groups, site_wide


def _tokens(line: str) -> list[str]:
    """Return the product token of a user-agent line in a list, empty without a value."""
    value = _USER_AGENT.sub("", line, count=1).lstrip(": \t").lower()
    if value.strip() == _EVERYBODY:
        return [_EVERYBODY]
    token = value.partition("/")[0].replace("*", "").strip()
    return [token] if token else []


def _score(token: str, name: str) -> int:
    """Return how well a token fits a crawler's name: 0 not at all, 1 as ``*``."""
    if token == _EVERYBODY:
        return 1
    start = name.find(token)
    while start != -1:
        end = start + len(token)
        around = name[start - 1 : start] + name[end : end + 1]
        if not _OF_A_TOKEN.search(around):
            return 1 + len(token)
        start = name.find(token, start + 1)
    return 0
