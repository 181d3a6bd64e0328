"""The charts of a choice as ECharts options: distances, similarities, sizes of clusters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from crawler.lab.app.charts import (
    DROPPED,
    INK,
    KEPT,
    MARK,
    SOFT,
    Options,
    bits_axis,
    count_axis,
    frame,
    lines,
    name_axis,
    share_axis,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neardup import Parameters

# Where most unlike texts lie: 32 bits; by chance some sixteen of them are never reached.
_MIN_WIDTH = 24

_SPREAD = 0.76
"""The points of one distance are strewn over this width in bits, so that they do not hide each
other.
"""

_GOLDEN = 0.6180339887498949


def size_bars(sizes: Iterable[int]) -> Options:
    """Draw how many clusters have 2, 3 or 4, 5 to 8, ... members."""
    counts = doublings(sizes)
    label = {
        "show": True,
        "position": "top",
        "color": SOFT,
        ":formatter": "bar => bar.value ? bar.value.toLocaleString('en-US') : ''",
    }
    bars = {"type": "bar", "barMaxWidth": 48, "itemStyle": {"color": DROPPED}, "label": label}
    data = [count or None for _, count in counts]
    return {
        **frame(),
        "xAxis": name_axis("pages in a cluster", [_name(step) for step, _ in counts]),
        "yAxis": count_axis("clusters"),
        "series": [{**bars, "emphasis": {"disabled": True}, "data": data}],
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
    (moved,) = moved_bounds(counts, parameters)["series"]
    bars = {"type": "bar", "barWidth": "72%", "barCategoryGap": 0, "emphasis": {"disabled": True}}
    return {
        **frame(),
        "xAxis": bits_axis("bits to the nearest other text", max(last, _MIN_WIDTH)),
        "yAxis": count_axis("texts"),
        "series": [{**bars, **moved}],
    }


def moved_bounds(counts: Sequence[int], parameters: Parameters) -> Options:
    """Return the parts of a drawn histogram that change when a bound does."""
    bars = [
        {"value": [bits, int(count)], "itemStyle": _looks(bits, parameters)}
        for bits, count in enumerate(counts)
        if count
    ]
    return {"series": [{"data": bars, "markLine": lines(_bound(parameters.max_distance))}]}


def _bound(bits: int) -> Options:
    """Return a line behind the last distance that counts."""
    label = {"formatter": f"match {bits}", "color": INK, "position": "end", "distance": 4}
    label["align"] = "right"
    looks = {"color": MARK, "type": "solid", "width": 1.5}
    return {"xAxis": bits + 0.5, "lineStyle": looks, "label": label}


def _looks(bits: int, parameters: Parameters) -> Options:
    if bits <= parameters.max_distance:
        return {"color": DROPPED, "opacity": 1}
    # Bands may find it at any distance, and similarity has to confirm it.
    return {"color": DROPPED if parameters.verify else KEPT, "opacity": 0.6}


def similarity_scatter(
    distances: Sequence[int], similarities: Sequence[float], parameters: Parameters
) -> Options:
    """Draw pairs; a click names a pair by its place in the arguments.

    Args:
        distances: The distances of the pairs, in bits.
        similarities: The similarities of the same pairs, 0 to 1.
        parameters: The parameters by which pairs are duplicates: these are shaded.
    """
    (moved,) = moved_area(parameters)["series"]
    points: dict[str, Any] = {
        "type": "scatter",
        # ECharts breaks off where nothing is to be drawn in this way.
        "large": bool(distances),
        "largeThreshold": 0,
        "symbolSize": 5,
        "itemStyle": {"color": KEPT, "opacity": 0.75},
        "data": _points(distances, similarities),
    }
    return {
        **frame(right=48),
        "xAxis": bits_axis("bits between two texts", max([*distances, 8])),
        "yAxis": share_axis("similarity (Jaccard)"),
        "series": [{**points, **moved}],
    }


def moved_area(parameters: Parameters) -> Options:
    """Return the parts of a drawn scatter that change when a bound does: what is a duplicate."""
    least = parameters.min_similarity if parameters.verify else 0.0
    # Where similarity confirms, what is similar is found at every distance.
    reach = 9 if parameters.verify else parameters.max_distance + 0.5
    corners = [{"xAxis": -1, "yAxis": least}, {"xAxis": reach, "yAxis": 1}]
    looks = {"color": DROPPED, "opacity": 0.14}
    area = {"silent": True, "itemStyle": looks, "data": [corners]}
    bound = {
        "yAxis": least,
        "lineStyle": {"color": MARK, "type": "dashed", "width": 1.5},
        "label": {"formatter": f"{least:g}", "position": "end", "color": INK},
    }
    marked = lines(bound) if parameters.verify else lines()
    return {"series": [{"markArea": area, "markLine": marked}]}


def _points(distances: Sequence[int], similarities: Sequence[float]) -> list[list[float]]:
    """Strew the points of a distance evenly, the same way each time (a golden-ratio sequence)."""
    return [
        [
            round(float(bits) + _SPREAD * (number * _GOLDEN % 1 - 0.5), 3),
            round(float(similarity), 4),
        ]
        for number, (bits, similarity) in enumerate(zip(distances, similarities, strict=True))
    ]
