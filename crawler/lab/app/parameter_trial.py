"""The choice that one reader tries: each window of a browser has its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.lab.judgement import EXACT, SIMHASH, Choice
from neardup import Features
from neardup.checks import MAX_SHINGLE_SIZE
from neardup.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from neardup import Parameters

METHODS = {
    SIMHASH: "SimHash, as in the crawl",
    EXACT: "Exact: equal texts alone",
}
UNITS = {"word": "Words", "character": "Characters"}
WEIGHTS = {"set": "Set", "log_count": "Log counts", "count": "Counts"}
SIZES = range(1, MAX_SHINGLE_SIZE + 1)

_MAX_CHARACTERS = 200
_SWITCHES = {
    "verify": {"verified": True, "alone": False},
    "compare_names": {"names": True, "nameless": False},
    "ignore_boilerplate": {"aside": True, "whole": False},
    "drop_contained": {"parts": False, "partless": True},
}
"""The words for both positions of each switch in the key of a choice, in its order."""


class Trial:
    """The choice that is tried, beside what holds.

    Attributes:
        choice: The choice that is tried.
        holds: The parameters that hold in the crawl.

    Args:
        holds: The parameters that hold at first, which are tried too.
        told: Called after each change.
    """

    def __init__(self, holds: Parameters, told: Callable[[], Awaitable[None]]) -> None:
        self.holds = holds
        self.choice = Choice(holds)
        self._told = told

    @property
    def is_what_holds(self) -> bool:
        return self.choice == Choice(self.holds)

    async def set(self, choice: Choice) -> None:
        if choice != self.choice:
            self.choice = choice
            await self._told()

    async def reset(self) -> None:
        await self.set(Choice(self.holds))

    async def hold(self, parameters: Parameters) -> None:
        """Note that other parameters hold now; a reader who tried nothing else goes with them."""
        if parameters == self.holds:
            return
        follows = self.is_what_holds
        self.holds = parameters
        if follows:
            self.choice = Choice(parameters)
        await self._told()


@dataclass(frozen=True, slots=True)
class Scale:
    """A number that can be chosen.

    Attributes:
        name: The name in ``Parameters``.
        unit: The unit of the number, empty for none.
        lowest: The smallest number that may be chosen.
        highest: The largest number of the slider.
        step: The step from one number to the next.
        most: The largest number that may be typed, where the slider ends sooner.
    """

    name: str
    unit: str
    lowest: float
    highest: float
    step: float
    most: float

    def checked(self, value: float | None) -> float | None:
        """Return the number as it may stand in ``Parameters``; None: it may not."""
        if value is None or not self.lowest <= value <= self.most:
            return None
        return round(value, 4) if self.step < 1 else int(value)


SCALES = (
    Scale("max_distance", "bits", 0, 8, 1, 8),
    Scale("min_similarity", "", 0, 1, 0.01, 1),
    Scale("min_words", "", 1, 300, 1, 1_000_000),
)


def with_value(choice: Choice, name: str, value: float) -> Choice:
    """Choose a number, or the position of a switch that has no further effect."""
    parameters = replace(choice.parameters, **{name: value})  # type: ignore[arg-type]
    return replace(choice, parameters=parameters)


def with_verify(choice: Choice, *, verify: bool) -> Choice:
    """Choose whether similarity confirms; what fingerprints are made of stays as it is.

    Without it parts of pages are not looked for.
    """
    tried = choice.parameters
    drop_contained = tried.drop_contained and verify
    features = tried.fingerprint_features
    changes = replace(tried, verify=verify, features=features, drop_contained=drop_contained)
    return replace(choice, parameters=changes)


def with_features(choice: Choice, holds: Parameters, **changes: str | int) -> Choice:
    """Choose what fingerprints are made of.

    Args:
        choice: The choice to change.
        holds: The parameters that hold in the crawl.
        changes: ``unit``, ``size`` or ``weight``.
    """
    features = replace(choice.parameters.fingerprint_features, idf=None, **changes)  # type: ignore[arg-type]
    parameters = replace(choice.parameters, features=features)
    return replace(choice, parameters=_with_own_features(parameters, holds))


def _with_own_features(parameters: Parameters, holds: Parameters) -> Parameters:
    """Write the features as the crawl does, where they come to the same."""
    if parameters.features == holds.fingerprint_features and parameters.verify == holds.verify:
        return replace(parameters, features=holds.features)
    return parameters


def used_numbers(choice: Choice) -> frozenset[str]:
    """Return the numbers that count for anything where all else is chosen so."""
    if choice.method == EXACT:
        return frozenset()
    if not choice.parameters.verify:
        return frozenset({"max_distance", "min_words"})
    return frozenset(scale.name for scale in SCALES)


def choice_key(choice: Choice) -> str:
    """Return a choice as one word, by which a window and its URL say what is tried."""
    parameters = choice.parameters
    features = parameters.fingerprint_features
    return "/".join(
        [
            choice.method,
            f"{features.unit}-{features.size}-{features.weight}",
            str(parameters.max_distance),
            f"{parameters.min_similarity:g}",
            str(parameters.min_words),
            *(_word_of(name, is_on=getattr(parameters, name)) for name in _SWITCHES),
        ]
    )


def parsed_choice(key: str, holds: Parameters) -> Choice | None:
    """Return the choice of such a word; None where it names none that is valid."""
    parts = key.split("/")
    if len(key) > _MAX_CHARACTERS or len(parts) != 5 + len(_SWITCHES):
        return None
    method, features, nearest, similarity, words, *positions = parts
    try:
        switches = {
            name: known[word]
            for (name, known), word in zip(_SWITCHES.items(), positions, strict=True)
        }
        parameters = replace(
            holds,
            features=Features.parsed(features),
            max_distance=int(nearest),
            min_similarity=float(similarity),
            min_words=int(words),
            **switches,
        )
        return Choice(_with_own_features(parameters, holds), method)
    except (KeyError, ParameterError, ValueError):
        return None


def _word_of(name: str, *, is_on: bool) -> str:
    return next(word for word, position in _SWITCHES[name].items() if position == is_on)
