"""Real documentation that nginx serves under endless addresses, as careless sites do."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tests.sites.nginx import Layout, serve
from tests.sites.packages import PACKAGES, html_folder, require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.nginx import ServedSite

# Each answer has an id of its own in all its links, and shows no word that the file has not.
DUPLICATES = Layout(
    maps=r'map $uri $page { "~^/(?:print|s/[0-9a-f]+)(?<rest>/.*)$" $rest; default $uri; }',
    locations="""
    sub_filter_once off;
    sub_filter '.html"' '.html?sid=$request_id"';
    sub_filter '.html#' '.html?sid=$request_id#';
    sub_filter '</body>' '<a href="/print$page"></a><a href="/s/$request_id$page"></a></body>';
    location ~ ^/print/(.*)$ { alias "ROOT/$1"; }
    location ~ ^/s/[0-9a-f]+/(.*)$ { alias "ROOT/$1"; }
    location / { root "ROOT"; }
""",
)

_PREFIX = re.compile(r"^/(?:print|s/[0-9a-f]+)(?=/)")


def plain_path(url: str) -> str:
    """The path, from the folder that is served, of the file that answers at a URL."""
    path = _PREFIX.sub("", unquote(urlsplit(url).path))
    return (path + "index.html" if path.endswith("/") else path).removeprefix("/")


@contextmanager
def duplicated_site(package: str) -> Iterator[ServedSite]:
    """Serve one of the ``PACKAGES`` at ``/``, ``/print/`` and ``/s/ID/``, whatever the query.

    Every link to a page has a new ``sid`` in each answer, and every page leads to its ``/print/``
    and to itself below a new ``/s/ID/``.

    Raises:
        SiteUnavailableError: nginx or the package is missing.
    """
    require_tool("nginx")
    with serve(html_folder(PACKAGES[package]), "", DUPLICATES) as site:
        yield site
