"""Cut a page into blocks, described in blocks.pyx."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from crawler.reading.content.block_flags import HiddenParts
from crawler.reading.flat_page import FlatPage

MAX_BLOCKS: int
SKIPPED: frozenset[str]
CONTAINERS: frozenset[str]
RUBY: str

class BlockTag:
    tag: str
    name: str
    own: int
    is_gutter: bool
    attributes: dict[str, str]

    def get(self, name: str) -> str | None: ...

BlockSpan: TypeAlias = tuple[int, int, tuple[BlockTag, ...]]
Pieces: TypeAlias = Sequence[str | BlockTag | None]

class PageBlocks:
    containers: list[BlockTag]
    parents: list[int]
    tags: list[str]
    own: list[int]
    inherited: list[int]
    depths: list[int]
    paths: list[int]
    ends: list[int]
    homes: list[int]
    spans: list[BlockSpan]
    texts: list[str]
    linked: list[int]
    links: list[int]
    inline: list[int]
    images: list[tuple[int, int, BlockSpan]]
    hidden: HiddenParts
    is_cut: bool
    page: FlatPage
    sizes: list[int]

    def pieces(self, span: BlockSpan, *, is_code: bool = False) -> Pieces: ...
    def sizes_of(self, chosen: Iterable[int]) -> list[int]: ...

def cut_blocks(page: FlatPage) -> PageBlocks: ...
def inline(pieces: Pieces) -> str: ...
