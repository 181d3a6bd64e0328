"""The table of what the links of each kind led to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawler.frontier.link_counts import LinkCount

_HEADINGS = ("kind", "found", "answered", "new pages", "put aside")


def link_lines(links: Mapping[str, LinkCount]) -> Iterator[str]:
    """Yield the lines of the table, or one that there are no links."""
    if not links:
        yield "no link was followed"
        return
    rows: list[tuple[str, ...]] = [_HEADINGS]
    for kind, count in links.items():
        rows.append((kind, *(f"{number:,}" for number in count)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells])
    yield ""
    yield "found: URLs within the scope that a link of the kind was the first to lead to"
    if any(count.aside for count in links.values()):
        yield "put aside: not asked for, since too few of their kind led to a new page"
