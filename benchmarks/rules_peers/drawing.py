"""The curves of all sites as one small SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from rules_peers.runs import CRAWLERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules_peers.curves import Figures

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP, _COLUMNS = 300, 160, 60, 40, 50, 2
_COLOURS = dict(zip(CRAWLERS, ("#888888", "#1f77b4", "#d62728"), strict=True))


def drawing(rows: Sequence[Figures]) -> str:
    """An SVG with a panel for each site: distinct pages over fetches, a line for each crawler."""
    sites = list(dict.fromkeys(row.site for row in rows))
    panels = [
        _panel([row for row in rows if row.site == site], *_corner(place))
        for place, site in enumerate(sites)
    ]
    lines = -(-len(sites) // _COLUMNS)
    width = _LEFT + _COLUMNS * (_WIDTH + _LEFT)
    height = _TOP + lines * (_HEIGHT + _GAP) + 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="11">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *(_legend(place, crawler) for place, crawler in enumerate(CRAWLERS)),
            *panels,
            "</svg>\n",
        ]
    )


def _corner(place: int) -> tuple[int, int]:
    line, column = divmod(place, _COLUMNS)
    return _LEFT + column * (_WIDTH + _LEFT), _TOP + line * (_HEIGHT + _GAP)


def _legend(place: int, crawler: str) -> str:
    x = _LEFT + 140 * place
    return (
        f'<line x1="{x}" y1="14" x2="{x + 20}" y2="14" stroke="{_COLOURS[crawler]}" '
        f'stroke-width="2"/><text x="{x + 26}" y="18">{escape(crawler)}</text>'
    )


def _panel(rows: Sequence[Figures], x: int, y: int) -> str:
    most_fetches = max(1, *(row.fetches for row in rows))
    most_pages = max(1, *(row.distinct for row in rows))
    parts = [
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#ccc"/>',
        f'<text x="{x}" y="{y - 6}" font-weight="bold">{escape(rows[0].site)}</text>',
        f'<text x="{x - 4}" y="{y + 10}" text-anchor="end">{most_pages:,}</text>',
        f'<text x="{x - 4}" y="{y + _HEIGHT}" text-anchor="end">0</text>',
        f'<text x="{x + _WIDTH}" y="{y + _HEIGHT + 14}" text-anchor="end">'
        f"{most_fetches:,} fetches</text>",
    ]
    for row in rows:
        points = " ".join(
            f"{x + fetches / most_fetches * _WIDTH:.1f},"
            f"{y + _HEIGHT - pages / most_pages * _HEIGHT:.1f}"
            for fetches, pages in row.curve
        )
        colour = _COLOURS[row.crawler]
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>'
        )
    return "\n".join(parts)
