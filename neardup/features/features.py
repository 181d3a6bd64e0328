"""Features of a text: weighted shingles of words or characters, made into fingerprints."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from neardup.checks import MAX_SHINGLE_SIZE, checked_whole
from neardup.errors import ParameterError
from neardup.features.hashing import Hashes
from neardup.features.kernels import counted
from neardup.features.shingles import SHINGLE_SIZE, occurrences

UNITS = ("word", "character")
WEIGHTS = ("set", "count", "log_count", "tf_idf")
_WRITTEN_WEIGHTS = tuple(weight for weight in WEIGHTS if weight != "tf_idf")

_LARGEST = 1e300  # the sum of all weights has to be finite too


@runtime_checkable
class Idf(Protocol):
    """Rarity of features in a corpus; :class:`~neardup.features.idf_table.IdfTable` gives it.

    Attributes:
        unit: The unit of the features that were counted, ``word`` or ``character``.
        size: The number of units in a row that were a feature.
        identity: A word that no other table has: fingerprints by two tables cannot be compared.
    """

    @property
    def unit(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def identity(self) -> str: ...

    def weights(self, hashes: Hashes) -> NDArray[np.float64]:
        """Return the inverse document frequency of each feature: float64, (features,)."""


class Weighted(NamedTuple):
    """Features, ascending and distinct, with their weights."""

    hashes: Hashes
    weights: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Features:
    """Shingles of a text with their weights.

    Attributes:
        unit: ``word`` or ``character``: words as ``tokens`` finds them, characters of the folded
            text with its single spaces.
        size: The number of units in a row that make a feature, 1 to 16.
        weight: The weight of a feature: ``set``, each distinct shingle counts once; ``count``;
            ``log_count``, 1 + ln(count); ``tf_idf``, count times ``idf``.
        idf: The inverse document frequencies, for ``tf_idf`` alone, of the same unit and size.

    Raises:
        ParameterError: A value is none of these.
    """

    unit: str = "word"
    size: int = SHINGLE_SIZE
    weight: str = "set"
    idf: Idf | None = None

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ParameterError(f"unit must be one of {', '.join(UNITS)}, got {self.unit!r}")
        # An integer of NumPy, say, becomes an int.
        object.__setattr__(self, "size", checked_whole("size", self.size, 1, MAX_SHINGLE_SIZE))
        if self.weight not in WEIGHTS:
            raise ParameterError(f"weight must be one of {', '.join(WEIGHTS)}, got {self.weight!r}")
        self._check_idf()

    def _check_idf(self) -> None:
        if self.weight != "tf_idf":
            if self.idf is not None:
                raise ParameterError(f"idf is for weight='tf_idf' alone, got {self.weight!r}")
            return
        if not isinstance(self.idf, Idf):
            raise ParameterError(
                f"idf must be an IdfTable for weight='tf_idf', got {self.idf!r}; learn one from "
                f"your texts: IdfTable.learned(texts, unit={self.unit!r}, size={self.size})"
            )
        if (self.idf.unit, self.idf.size) != (self.unit, self.size):
            raise ParameterError(
                f"idf must be of the same features, {self.unit} and {self.size}, "
                f"got {self.idf.unit} and {self.idf.size}"
            )

    def __str__(self) -> str:
        table = "" if self.idf is None else f"-{self.idf.identity}"
        return f"{self.unit}-{self.size}-{self.weight}{table}"

    @classmethod
    def parsed(cls, written: str) -> Self:
        """Return the features that are written as ``str`` writes them: ``word-3-set``.

        Raises:
            ParameterError: It is written otherwise, or ``tf_idf``, which needs its table.
        """
        unit, size, weight = [*written.split("-"), "", "", ""][:3]
        is_number = size.isdecimal() and len(size) <= 2
        if written.count("-") != 2 or not is_number or weight not in _WRITTEN_WEIGHTS:
            raise ParameterError(
                f"features must be written like word-3-set, character-4-count or "
                f"word-1-log_count, got {written!r}"
            )
        return cls(unit, int(size), weight)

    def weighted(self, text: str) -> Weighted:
        """Return the distinct features of a text, and what each weighs.

        Raises:
            TypeError: ``text`` is no ``str``.
            ParameterError: ``idf`` gives weights that are not finite, or not one for each feature.

        Complexity: O(length + features * log features).
        """
        return self.weigh(occurrences(text, self.unit, self.size))

    def weigh(self, hashes: Hashes) -> Weighted:
        """Return the distinct ones of a text's ``occurrences``, weighed; these are sorted."""
        hashes.sort()
        counts = np.empty(len(hashes), np.float64)
        found = counted(hashes, counts)
        hashes, counts = hashes[:found], counts[:found]
        return Weighted(hashes, self._weights(hashes, counts))

    def _weights(self, hashes: Hashes, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.weight == "set":
            return np.ones(len(counts))
        if self.weight == "log_count":
            return np.log(counts) + 1
        if self.idf is None:
            return counts
        weights = np.asarray(self.idf.weights(hashes), np.float64)
        if weights.shape != counts.shape:
            raise ParameterError(
                "idf.weights must return a number for each feature, float64, "
                f"{counts.shape}, got {weights.shape}"
            )
        with np.errstate(over="ignore"):
            weighted: NDArray[np.float64] = weights * counts
        # The sum of all must be finite too, whatever the signs.
        if not np.isfinite(np.abs(weighted).sum()):
            worst = weights[np.argmax(~np.isfinite(weights) | (np.abs(weights) > _LARGEST))]
            raise ParameterError(f"idf.weights must return finite, moderate numbers, got {worst}")
        return weighted
