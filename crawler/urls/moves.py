"""Decide where a crawl may go when a seed redirects it."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from crawler.urls.requested import requestable
from crawler.urls.scope import Scope


def moved_scope(scope: Scope, seed: str, target: str) -> Scope | None:
    """Return the scope after a seed was redirected, or None where the crawl is not to follow.

    On the same host the target takes the seed's place (``/docs`` that leads to
    ``/docs/`` means that folder, ``/3.12/`` that leads to ``/3.13/`` the newer one),
    unless that made the crawl wider: ``/app/`` that leads to ``/login`` is that page
    and not the whole host. Another host of the same registered domain (``www.``) is
    added. A site of somebody else is not what the user asked for. What other seeds
    cover is in scope already, wherever it is.
    """
    if scope.without(seed).allows(target):
        return scope
    seed_parts, target_parts = urlsplit(seed), urlsplit(target)
    if seed_parts.netloc == target_parts.netloc:
        wider = _folder(seed_parts.path).startswith(_folder(target_parts.path))
        return scope if wider else scope.moved(seed, target)
    if Scope([seed], kind="domain").allows(target):
        return scope.widened(target)
    return None


def may_lead_back(url: str, target_url: str) -> bool:
    """Say whether a redirect out of a scope may come back: by a login, or by a page for cookies.

    Within a site it may; elsewhere where the target is told from where the reader comes.

    Raises:
        MalformedUrl: The target is none that can be asked.
    """
    host = urlsplit(url).hostname or ""
    told = unquote(urlsplit(requestable(target_url)).query).lower()
    return host in told or Scope([url], kind="domain").allows(target_url)


def is_same_place(url: str, target_url: str) -> bool:
    """Say whether a redirect only changes the scheme, or adds or drops ``www.``."""
    return _place(url) == _place(target_url)


def _place(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.path or "/", parts.query


def _folder(path: str) -> str:
    return path.rpartition("/")[0] + "/"
