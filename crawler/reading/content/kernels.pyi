"""Loops over the texts and the features of the blocks of a page, described in kernels.pyx."""

from typing import TypeAlias

from numpy import float32, float64, int16, int64
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[float32]
Counts: TypeAlias = NDArray[int64]

def leaves_of(
    columns: Floats,
    leaves: Floats,
    firsts: Counts,
    depths: Counts,
    asked: NDArray[int16],
    borders: Floats,
) -> Floats: ...
def count_characters(texts: list[str], marks: str, scripts: Counts, step: int) -> Counts: ...
def tell_words(
    texts: list[str], numbers: dict[str, int], runs: set[int], things: int
) -> NDArray[float64]: ...
