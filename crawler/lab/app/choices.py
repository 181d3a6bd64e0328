"""The choices of a reader, each followed by the changes that keep it possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.lab.choice import EXACT, MINHASH, SIMHASH
from neardup import Features
from neardup.limits import MAX_SHINGLE_SIZE

if TYPE_CHECKING:
    from crawler.lab.choice import Choice
    from neardup import Parameters


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

    @property
    def words(self) -> str:
        """The name with its unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def checked(self, value: float | None) -> float | None:
        """Return the number as it may stand in ``Parameters``; None: it may not."""
        if value is None or not self.lowest <= value <= self.most:
            return None
        return round(value, 4) if self.step < 1 else int(value)


SCALES = (
    Scale("max_distance", "bits", 0, 8, 1, 8),
    Scale("candidate_distance", "bits", 0, 8, 1, 8),
    Scale("min_similarity", "", 0, 1, 0.01, 1),
    Scale("min_words", "", 1, 300, 1, 1_000_000),
)

METHODS = {
    SIMHASH: "SimHash, as in the crawl",
    MINHASH: "MinHash LSH",
    EXACT: "Exact: equal texts alone",
}
UNITS = {"word": "Words", "character": "Characters"}
WEIGHTS = {"set": "Set", "log_count": "Log counts", "count": "Counts"}
SIZES = range(1, MAX_SHINGLE_SIZE + 1)


def with_number(choice: Choice, name: str, value: float) -> Choice:
    """Choose a number; the other distance goes along where it would lie on the wrong side."""
    values = {name: value}
    parameters = choice.parameters
    if name == "max_distance":
        values["candidate_distance"] = max(value, parameters.candidate_distance)
    elif name == "candidate_distance":
        values["max_distance"] = min(value, parameters.max_distance)
    return replace(choice, parameters=replace(parameters, **values))  # type: ignore[arg-type]


def with_verify(choice: Choice, *, verify: bool) -> Choice:
    """Choose whether similarity confirms; what fingerprints are made of stays as it is."""
    features = choice.parameters.fingerprint_features
    parameters = replace(choice.parameters, verify=verify, features=features)
    return replace(choice, parameters=parameters)


def with_method(choice: Choice, method: str) -> Choice:
    """Choose how near texts are found."""
    return replace(choice, method=method)


def with_features(choice: Choice, holding: Parameters, **changes: str | int) -> Choice:
    """Choose what fingerprints are made of.

    Args:
        choice: The choice to change.
        holding: The parameters that hold in the crawl: where the same features come out, they are
            its own.
        changes: ``unit``, ``size`` or ``weight``.
    """
    now = choice.parameters.fingerprint_features
    values = {"unit": now.unit, "size": now.size, "weight": now.weight, **changes}
    chosen: Features | None = Features(**values)  # type: ignore[arg-type]
    same_verify = holding.verify == choice.parameters.verify
    if chosen == holding.fingerprint_features and same_verify:
        chosen = holding.features
    return replace(choice, parameters=replace(choice.parameters, features=chosen))


def used_numbers(choice: Choice) -> frozenset[str]:
    """Return the numbers that count for anything where all else is chosen so."""
    if choice.method == EXACT:
        return frozenset()
    if choice.method == MINHASH:
        return frozenset({"min_similarity", "min_words"})
    if not choice.parameters.verify:
        return frozenset({"max_distance", "min_words"})
    return frozenset(scale.name for scale in SCALES)


def drawing(choice: Choice) -> tuple[object, ...]:
    """Return the key of the charts of near texts: while it stays the same, only bounds move."""
    parameters = choice.parameters
    features = parameters.fingerprint_features
    return features, parameters.verify_shingle_size, parameters.min_words
