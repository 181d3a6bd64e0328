"""Draw the distances to the nearest other text as a histogram, with the bounds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from crawler.lab.app.drawings.axes import (
    DROPPED,
    INK,
    KEPT,
    MARK,
    SOFT,
    Options,
    bits_labels,
    count_axis,
    frame,
    name_axis,
    number_axis,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neardup import Parameters

# Where most unlike texts lie: 32 bits; by chance some sixteen of them are never reached.
_MIN_WIDTH = 24


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


def distance_histogram(counts: Sequence[int], parameters: Parameters) -> Options:
    """Draw how many texts have their nearest neighbour at each distance.

    Args:
        counts: The number of texts at the distances 0, 1, 2, ... bits.
        parameters: The parameters whose bounds are drawn in.
    """
    last = max((bits for bits, count in enumerate(counts) if count), default=0)
    return {
        **frame(),
        "xAxis": number_axis(
            "bits to the nearest other text",
            min=-1,
            max=max(last, _MIN_WIDTH) + 1,
            interval=1,
            axisTick={"show": False},
            axisLabel=bits_labels(last=max(last, _MIN_WIDTH)),
        ),
        "yAxis": count_axis("texts"),
        "series": [
            {
                "type": "bar",
                "barWidth": "72%",
                "barCategoryGap": 0,
                "emphasis": {"disabled": True},
                "data": _bars(counts, parameters, last),
                "markLine": bounds(parameters),
            }
        ],
    }


def moved_bounds(counts: Sequence[int], parameters: Parameters) -> Options:
    """Return the parts of a drawn histogram that change when a bound does."""
    last = max((bits for bits, count in enumerate(counts) if count), default=0)
    bars = _bars(counts, parameters, last)
    return {"series": [{"data": bars, "markLine": bounds(parameters)}]}


def bounds(parameters: Parameters) -> Options:
    """Return lines behind the last distance that counts."""
    lines = [_line(parameters.max_distance, "match", "solid")]
    if parameters.radius > parameters.max_distance:
        lines.append(_line(parameters.radius, "candidate", "dashed"))
    return {"silent": True, "symbol": "none", "animation": False, "data": lines}


def _line(bits: int, name: str, kind: str) -> Options:
    label = {"formatter": f"{name} {bits}", "color": INK, "position": "end", "distance": 4}
    # A bound is drawn behind its bar; names of two that touch must not lie on each other.
    label["align"] = "right" if name == "match" else "left"
    return {
        "xAxis": bits + 0.5,
        "lineStyle": {"color": MARK, "type": kind, "width": 1.5},
        "label": label,
    }


def _bars(counts: Sequence[int], parameters: Parameters, last: int) -> list[Any]:
    return [
        {"value": [bits, int(counts[bits])], "itemStyle": _looks(bits, parameters)}
        for bits in range(last + 1)
        if counts[bits]
    ]


def _looks(bits: int, parameters: Parameters) -> Options:
    if bits > parameters.radius:
        return {"color": KEPT, "opacity": 1}
    return {"color": DROPPED, "opacity": 1 if bits <= parameters.max_distance else 0.6}
