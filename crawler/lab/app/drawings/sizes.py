"""How large are the clusters? A bar for each doubling."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawler.lab.app.drawings.axes import DROPPED, SOFT, Options, count_axis, frame, name_axis

if TYPE_CHECKING:
    from collections.abc import Iterable


def size_bars(sizes: Iterable[int]) -> Options:
    """Draw how many clusters have 2, 3 or 4, 5 to 8, ... members."""
    counts = doublings(sizes)
    return {
        **frame(),
        "xAxis": name_axis("pages in a cluster", [_name(step) for step, _ in counts]),
        "yAxis": count_axis("clusters"),
        "series": [
            {
                "type": "bar",
                "barMaxWidth": 48,
                "itemStyle": {"color": DROPPED},
                "emphasis": {"disabled": True},
                "label": {
                    "show": True,
                    "position": "top",
                    "color": SOFT,
                    ":formatter": "bar => bar.value ? bar.value.toLocaleString('en-US') : ''",
                },
                "data": [count or None for _, count in counts],
            }
        ],
    }


def doublings(sizes: Iterable[int]) -> list[tuple[int, int]]:
    """Count sizes up to each power of two, from 2 on; what is empty between them is there too."""
    found = Counter((size - 1).bit_length() for size in sizes if size > 1)
    return [(step, found[step]) for step in range(1, max(found, default=0) + 1)]


def _name(step: int) -> str:
    lowest, highest = 2 ** (step - 1) + 1, 2**step
    return f"{lowest:,}" if lowest == highest else f"{lowest:,}\u2013{highest:,}"
