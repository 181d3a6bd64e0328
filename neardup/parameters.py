"""The parameters that decide when two texts are the same, each with its default."""

from dataclasses import dataclass

import numpy as np

from neardup.checks import MAX_SHINGLE_SIZE, checked_whole
from neardup.errors import ParameterError
from neardup.features.features import Features
from neardup.features.shingles import JACCARD_SIZE

ALONE = Features("word", 3, "set")
CONFIRMED = Features("word", 1, "log_count")

_MAX_DISTANCE = 8


@dataclass(frozen=True, slots=True)
class Parameters:
    """The settings of fingerprints and verdicts.

    Where the distance decides alone, sets of 3 words in a row drop 9 of 4,753 real texts of at
    least 50 words wrongly at 3 bits, and log counts of words 140. Texts of fewer words cause nearly
    all wrong drops that are left, so for them only equality counts.

    Attributes:
        features: The features of a fingerprint; None: those that suit ``verify``
            (:attr:`fingerprint_features`). Fingerprints of different features cannot be compared.
        max_distance: The distance within which two fingerprints match, 0 to 8 bits.
        min_words: The number of words below which texts are compared by equality alone, at least 1.
        verify: Whether matches and candidates are confirmed by ``min_similarity`` before they make
            a verdict. Without it ``max_distance`` decides alone.
        min_similarity: The similarity that confirms a candidate, 0 to 1.
        verify_shingle_size: The words in a row that make one element of the sets whose Jaccard
            similarity is computed, 1 to 16.
        compare_names: Whether near texts whose names differ are both kept (``neardup.names``).
        ignore_boilerplate: Whether near texts are both kept that say other things outside the
            boilerplate of their groups (``neardup.boilerplate``), where that is known.
        drop_contained: Whether a text is dropped that is a part of a kept one (``neardup.parts``)
            and has no other name.

    Raises:
        ParameterError: A value lies outside its range, or parts are to be dropped unconfirmed.
    """

    features: Features | None = None
    max_distance: int = 3
    min_words: int = 50
    verify: bool = True
    min_similarity: float = 0.8
    verify_shingle_size: int = JACCARD_SIZE
    compare_names: bool = True
    ignore_boilerplate: bool = True
    drop_contained: bool = False

    def __post_init__(self) -> None:
        if self.features is not None and not isinstance(self.features, Features):
            raise ParameterError(f"features must be Features or None, got {self.features!r}")
        self._set_whole("max_distance", 0, _MAX_DISTANCE)
        self._set_whole("min_words", 1)
        self._set_whole("verify_shingle_size", 1, MAX_SHINGLE_SIZE)
        self._set_switch("verify")
        self._set_switch("compare_names")
        self._set_switch("ignore_boilerplate")
        self._set_switch("drop_contained")
        if self.drop_contained and not self.verify:
            raise ParameterError("drop_contained needs verify, got verify=False")
        similarity = _checked_similarity("min_similarity", self.min_similarity)
        object.__setattr__(self, "min_similarity", similarity)

    def _set_whole(self, name: str, lowest: int, highest: int | None = None) -> None:
        # An integer of NumPy becomes an int, which can be written as JSON.
        value = checked_whole(name, getattr(self, name), lowest, highest)
        object.__setattr__(self, name, value)

    def _set_switch(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, bool | np.bool):
            raise ParameterError(f"{name} must be True or False, got {value!r}")
        object.__setattr__(self, name, bool(value))

    @property
    def fingerprint_features(self) -> Features:
        """The features of a fingerprint.

        Where candidates are confirmed, these features find the most duplicates. Where distance
        alone decides, they err the least.
        """
        if self.features is not None:
            return self.features
        return CONFIRMED if self.verify else ALONE


def _checked_similarity(name: str, value: object) -> float:
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        number = float(value)
        # NaN compares as false and so is refused too.
        if 0 <= number <= 1:
            return number
    raise ParameterError(f"{name} must be 0..1, got {value!r}")


DEFAULTS = Parameters()
