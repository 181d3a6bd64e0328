"""Chosen blocks as a body, described in content_body.pyx."""

from collections.abc import Iterable

from crawler.reading.content.blocks import PageBlocks

def build_body(blocks: PageBlocks, chosen: Iterable[int]) -> str: ...
