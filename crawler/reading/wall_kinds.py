"""Name the kinds of walls, for those too that read no page: it imports nothing."""

from __future__ import annotations

from enum import StrEnum


class WallKind(StrEnum):
    """The kind of a page that a host shows in place of the one that was requested."""

    CAPTCHA = "captcha"
    NOT_FOUND = "not_found"
    LOGIN = "login"
    CONSENT = "consent"
    JAVASCRIPT = "javascript"
    SHELL = "shell"
    """No wall: a page that its scripts fill (``crawler.reading.app_shells``)."""
