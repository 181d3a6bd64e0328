"""Loops over the texts and the features of the blocks of a page, described in kernels.pyx."""

from typing import TypeAlias

from numpy import float32, float64, int16, int64
from numpy.typing import NDArray

from crawler.reading.content.block_features import PageWords
from crawler.reading.content.blocks import PageBlocks

Floats: TypeAlias = NDArray[float32]
Counts: TypeAlias = NDArray[int64]

TEXT_COLUMNS: list[str]
TAGS: tuple[str, ...]
TITLE: int
PLACE: int
ROWS_OF_TAGS: int
ROWS_OF_FLAGS: int

def score_leaves(
    columns: Floats,
    leaves: Floats,
    firsts: Counts,
    depths: Counts,
    asked: NDArray[int16],
    borders: Floats,
) -> Floats: ...
def read_texts(texts: list[str], words: PageWords) -> tuple[NDArray[float64], Counts]: ...

class BlockTable:
    features: Floats
    texts: NDArray[float64]
    kinds: Counts
    levels: Counts
    above: Counts
    flags: Counts
    groups: Counts
    linked: float
    twinned: float
    max_twins: int

    def __init__(self, blocks: PageBlocks, words: PageWords) -> None: ...
