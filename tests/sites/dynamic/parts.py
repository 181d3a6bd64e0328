"""All parts that a dynamic site can have, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.dynamic.adversaries import Fresh, Lucky, Members, Missing, Tickets
from tests.sites.dynamic.companions import Editions, Terms, Views
from tests.sites.dynamic.shop import Shop
from tests.sites.dynamic.traps import Calendar, Facets, Maze
from tests.sites.dynamic.twins import Copies, Hosts, Pairs, Prints

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.sites.dynamic.options import Options
    from tests.sites.dynamic.page import Part

PARTS: Mapping[str, Callable[[Options], Part]] = {
    "shop": Shop,
    "views": Views,
    "terms": Terms,
    "editions": Editions,
    "copies": Copies,
    "prints": Prints,
    "hosts": Hosts,
    "pairs": Pairs,
    "calendar": Calendar,
    "maze": Maze,
    "facets": Facets,
    "tickets": Tickets,
    "members": Members,
    "missing": Missing,
    "lucky": Lucky,
    "fresh": Fresh,
}
