"""The chapters of the demo site, and its planted things, to be compared with a crawl's results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MONTHS = tuple(f"2024-{month:02}" for month in range(1, 7))

SESSION_IDS = ("9f0c1d7be2a84c5f8d36e1b07a94c2d5", "03ab5e86c1f74d29b8e05d7f6a1c9e42")


@dataclass(frozen=True)
class Chapter:
    """A folder of articles; the site serves it under the same name."""

    name: str
    label: str
    language: str
    articles: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"/{self.name}/"

    def article_paths(self) -> tuple[str, ...]:
        return tuple(f"/{self.name}/{article}" for article in self.articles)


CHAPTERS = (
    Chapter(
        "harbour",
        "Harbours",
        "en",
        ("quay", "breakwater", "dock", "dredging", "slipway", "harbourmaster", "customs-house"),
    ),
    Chapter(
        "ropes",
        "Ropes",
        "en",
        ("ropewalk", "bowline", "reef-knot", "sheet-bend", "splice", "whipping", "coiling"),
    ),
    Chapter(
        "lights",
        "Lights",
        "en",
        ("lighthouse", "lens", "lightship", "buoyage", "fog-signal", "leading-lights"),
    ),
    Chapter(
        "weather",
        "Weather",
        "en",
        ("barometer", "sea-fog", "wind-scale", "tides", "swell", "clouds", "sea-breeze"),
    ),
    Chapter(
        "boats",
        "Boats",
        "en",
        ("dinghy", "lugger", "keel", "rudder", "sails", "ballast", "caulking"),
    ),
    Chapter(
        "pilotage",
        "Finding the way",
        "en",
        ("chart", "compass", "log-line", "sextant", "soundings", "dead-reckoning", "logbook"),
    ),
    Chapter("fr", "Français", "fr", ("maree-basse", "cafe-du-port", "gardien")),
)

# Languages with a single page have no chapter: (label, folder, article).
LONE_ARTICLES = (("中文", "zh", "dengta"), ("日本語", "ja", "minato"))


def language_of(folder: str) -> str:
    """Return the language of a folder's texts, English where no chapter says otherwise."""
    lone = {name for _, name, _ in LONE_ARTICLES}
    chapters = {chapter.name: chapter.language for chapter in CHAPTERS}
    return folder if folder in lone else chapters.get(folder, "en")


def month_path(month: str) -> str:
    return f"/tides?month={month}"


@dataclass(frozen=True)
class Planted:
    """A hidden thing.

    Attributes:
        kind: What a crawl ought to make of it, mostly the name of a verdict. ``same_url`` is
            another spelling of a URL, ``odd`` damaged or mislabelled and yet a page to keep,
            ``calendar`` a month of a calendar that goes on, ``sitemap_only`` linked from nowhere.
        path: Its path with the query, as the site links to it.
        of: The path of the page that it repeats or leads to, where there is one.
    """

    kind: str
    path: str
    of: str = ""


PLANTED = (
    Planted("same_url", "/ropes/bowline?utm_source=newsletter&utm_medium=email", "/ropes/bowline"),
    Planted("same_url", "/lights/lens?utm_campaign=spring", "/lights/lens"),
    Planted("same_url", "/weather/tides?gclid=Cj0KCQiA5NSdBhDfARIsALzs2EC", "/weather/tides"),
    Planted("same_url", f"/boats/keel?PHPSESSID={SESSION_IDS[0]}", "/boats/keel"),
    Planted("same_url", f"/pilotage/chart?PHPSESSID={SESSION_IDS[1]}", "/pilotage/chart"),
    Planted("same_url", "/find?order=name&kind=term", "/find?kind=term&order=name"),
    Planted("exact_duplicate", "/mirror/ropes/splice", "/ropes/splice"),
    Planted("exact_duplicate", "/mirror/lights/buoyage", "/lights/buoyage"),
    Planted("exact_duplicate", "/mirror/weather/clouds", "/weather/clouds"),
    Planted("exact_duplicate", "/mirror/fr/gardien", "/fr/gardien"),
    Planted("text_duplicate", "/print/harbour/quay", "/harbour/quay"),
    Planted("text_duplicate", "/print/boats/sails", "/boats/sails"),
    Planted("text_duplicate", "/print/pilotage/sextant", "/pilotage/sextant"),
    Planted("text_duplicate", "/print/ja/minato", "/ja/minato"),
    Planted("near_duplicate", "/notices/autumn", "/notices/spring"),
    Planted("near_duplicate", "/notices/summer", "/notices/spring"),
    Planted("near_duplicate", "/drafts/harbourmaster", "/harbour/harbourmaster"),
    Planted("near_duplicate", "/drafts/walk", "/walk"),
    Planted("too_short", "/hours"),
    Planted("too_short", "/envelope"),
    Planted("not_html", "/files/harbour-plan"),
    Planted("odd", "/fr/phare-mal-etiquete"),
    Planted("odd", "/nest"),
    *(Planted("calendar", month_path(month)) for month in MONTHS),
    Planted("redirect", "/old/bowline", "/ropes/bowline"),
    Planted("redirect_loop", "/round/about"),
    Planted("redirect_loop", "/round/again"),
    Planted("missing", "/lost"),
    Planted("nofollow", "/staff/rota"),
    Planted("disallowed", "/private/cellar"),
    Planted("noindex", "/staff/minutes"),
    Planted("sitemap_only", "/appendix"),
)

EXPECTED: Mapping[str, int] = Counter(planted.kind for planted in PLANTED)
"""The number of planted things of each kind."""

DUPLICATE_KINDS = ("exact_duplicate", "text_duplicate", "near_duplicate")

DUPLICATES: Mapping[str, str] = {
    planted.path: planted.of for planted in PLANTED if planted.kind in DUPLICATE_KINDS
}
"""Each path that repeats another page, and that page's path."""


def of_kind(*kinds: str) -> tuple[Planted, ...]:
    """Return the planted things of some kinds, in the order of the table."""
    return tuple(planted for planted in PLANTED if planted.kind in kinds)
