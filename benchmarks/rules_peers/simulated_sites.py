"""The sites that are simulated, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rules_peers.alias_sites import ALIASES, VARIED, Aliases
from rules_peers.host_sites import Hosts
from rules_peers.made_sites import Calendar, Facets, Served, Wiki
from rules_peers.simulated_site import SITE
from rules_peers.software_sites import (
    Blog,
    Gitweb,
    Languages,
    MediaWiki,
    PhpBB,
    Trac,
    Versions,
)
from rules_peers.view_sites import VIEWS, FacetedShop, RepositoryBrowser, viewed
from tests.sites.dynamic import CLUTTERED

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules_peers.simulated_site import SimulatedSite


def _aliases(name: str, **others: Any) -> Callable[[int], SimulatedSite]:
    links, pattern, variants = VARIED.get(name) or (*ALIASES[name], ())
    return lambda seed: Aliases(links, pattern, variants, seed=seed, **others)


def _made(**others: Any) -> Callable[[int], SimulatedSite]:
    return lambda seed: Served(replace(CLUTTERED, seed=seed, **others))


SIMULATED: dict[str, Callable[[int], SimulatedSite]] = {
    "made": _made(),
    "made, 12,000 contents": _made(boards=200),
    "made, session in the path": _made(
        boards=4, articles=40, zero_starts=False, session="path", session_name="s"
    ),
    "made, one part": _made(boards=1, articles=300, authors=0),
    **{name: _aliases(name) for name in (*ALIASES, *VARIED)},
    "no duplicates": _aliases("no duplicates", seeds=(f"{SITE}/p/0",)),
    "facets": Facets,
    "calendar": Calendar,
    "wiki": Wiki,
    "MediaWiki": MediaWiki,
    "Trac": Trac,
    "gitweb": Gitweb,
    "phpBB": PhpBB,
    "blog": Blog,
    "languages": Languages,
    "versions": Versions,
    **{name: viewed(name) for name in VIEWS},
    "repository browser": RepositoryBrowser,
    "shop with facets": FacetedShop,
    "hosts": Hosts,
    "hosts, one kind of page": lambda seed: Hosts(seed, kinds=("page",)),
    **{
        f"{name}, {percent} % differ{f', {third}' if third else ''}": _aliases(
            name, exceptions=percent, third=third
        )
        for name in VARIED
        for percent in (1, 3, 10)
        for third in ("", "early", "late")
    },
    **{
        f"{name}, {percent} % differ": viewed(name, percent)
        for name, views in VIEWS.items()
        if views.same
        for percent in (1, 2)
    },
}
"""Sites by name, given a seed."""
