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
# What stands behind a token, such as a version or a comment, is no part of it.
_TOKEN = re.compile(r"[^\s/(;,]+")
_COMPATIBLE = re.compile(r"mozilla/.*[(;]\s*compatible;\s*([^\s/(;,)]+)", re.IGNORECASE)
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

    The groups of the crawler's product token, whatever its case, are chosen; those of ``*`` if
    there is none.

    Args:
        text: The file.
        agent: User agent of the crawler, ``crawl-once/0.1`` for example.

    Complexity: O(len(text)). Reference: RFC 9309, section 2.2.
    """
    groups, site_wide = _groups(text)
    token = product_token(agent)
    is_named = any(token in group.agents for group in groups)
    chosen = token if is_named else _EVERYBODY
    rules = [rule for group in groups if chosen in group.agents for rule in group.rules]
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


def product_token(agent: str) -> str:
    """Return the name of a crawler in its user agent, in small letters.

    It is the first one, or what follows "compatible" where the crawler calls itself a browser:
    words of a comment, such as those of a URL, are none.
    """
    found = _COMPATIBLE.match(agent.strip())
    name = _TOKEN.match(agent.strip()) if found is None else found
    return "" if name is None else name[name.re.groups].lower()


def _tokens(line: str) -> list[str]:
    """Return the product token of a user-agent line in a list, empty without a value."""
    value = _USER_AGENT.sub("", line, count=1).lstrip(": \t").lower()
    if value.strip() == _EVERYBODY:
        return [_EVERYBODY]
    token = _TOKEN.match(value.replace("*", "").strip())
    return [] if token is None else [token[0]]
