"""The chapters of the handbook, in the order of their links."""

from __future__ import annotations

from dataclasses import dataclass


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
        (
            "quay",
            "breakwater",
            "dock",
            "dredging",
            "slipway",
            "harbourmaster",
            "customs-house",
        ),
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
        (
            "chart",
            "compass",
            "log-line",
            "sextant",
            "soundings",
            "dead-reckoning",
            "logbook",
        ),
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
