"""Where a crawl may go when a seed sends it somewhere else."""

from __future__ import annotations

from urllib.parse import urlsplit

from crawler.urls.scope import Scope


def moved_scope(scope: Scope, seed: str, target: str) -> Scope | None:
    """The scope after a seed was redirected, or None where the crawl is not to follow.

    On the same host the target takes the seed's place (``/docs`` that leads to
    ``/docs/`` means that folder, ``/3.12/`` that leads to ``/3.13/`` the newer one),
    unless that made the crawl wider: ``/app/`` that leads to ``/login`` is that page
    and not the whole host. Another host of the same registered domain (``www.``) is
    added. A site of somebody else is not what the user asked for.
    """
    seed_parts, target_parts = urlsplit(seed), urlsplit(target)
    if seed_parts.netloc == target_parts.netloc:
        wider = _folder(seed_parts.path).startswith(_folder(target_parts.path))
        return scope if wider else scope.moved(seed, target)
    if Scope([seed], kind="domain").allows(target):
        return scope.widened(target)
    return None


def _folder(path: str) -> str:
    return path.rpartition("/")[0] + "/"
