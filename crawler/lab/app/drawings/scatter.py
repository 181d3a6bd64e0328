"""Do near fingerprints mean similar texts? Each pair of near texts as a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.lab.app.drawings.axes import (
    DROPPED,
    INK,
    KEPT,
    MARK,
    Options,
    bits_labels,
    frame,
    number_axis,
    share_axis,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup import Parameters

_SPREAD = 0.76
"""The width in bits over which points of one distance are strewn, so that they do not hide each
other.
"""

_GOLDEN = 0.6180339887498949


def similarity_scatter(
    distances: Sequence[int], similarities: Sequence[float], parameters: Parameters
) -> Options:
    """Draw pairs; a click names a pair by its place in the arguments.

    Args:
        distances: The distances of the pairs, in bits.
        similarities: The similarities of the same pairs, 0 to 1.
        parameters: The parameters by which pairs are duplicates: these are shaded.
    """
    return {
        **frame(right=48),
        "xAxis": _axis(max([*distances, 8])),
        "yAxis": share_axis("similarity (Jaccard)"),
        "series": [
            {
                "type": "scatter",
                # ECharts breaks off where nothing is to be drawn in this way.
                "large": bool(distances),
                "largeThreshold": 0,
                "symbolSize": 5,
                "itemStyle": {"color": KEPT, "opacity": 0.75},
                "data": _points(distances, similarities),
                "markArea": accepted(parameters),
                "markLine": _least(parameters),
            }
        ],
    }


def moved_area(parameters: Parameters) -> Options:
    """Return the parts of a drawn scatter that change when a bound does."""
    return {"series": [{"markArea": accepted(parameters), "markLine": _least(parameters)}]}


def accepted(parameters: Parameters) -> Options:
    """Return the shaded part: pairs that make a duplicate."""
    least = parameters.min_similarity if parameters.verify else 0.0
    corners = [{"xAxis": -1, "yAxis": least}, {"xAxis": parameters.radius + 0.5, "yAxis": 1}]
    return {
        "silent": True,
        "itemStyle": {"color": DROPPED, "opacity": 0.14},
        "data": [corners],
    }


def _least(parameters: Parameters) -> Options:
    line: dict[str, Any] = {"silent": True, "symbol": "none", "animation": False, "data": []}
    if parameters.verify:
        line["data"] = [
            {
                "yAxis": parameters.min_similarity,
                "lineStyle": {"color": MARK, "type": "dashed", "width": 1.5},
                "label": {
                    "formatter": f"{parameters.min_similarity:.2f}",
                    "position": "end",
                    "color": INK,
                },
            }
        ]
    return line


def _points(distances: Sequence[int], similarities: Sequence[float]) -> list[list[float]]:
    """Strew the points of a distance evenly, the same way each time (a golden-ratio sequence)."""
    return [
        [
            round(float(bits) + _SPREAD * (number * _GOLDEN % 1 - 0.5), 3),
            round(float(similarity), 4),
        ]
        for number, (bits, similarity) in enumerate(zip(distances, similarities, strict=True))
    ]


def _axis(farthest: int) -> Options:
    labels = bits_labels(last=farthest)
    return number_axis(
        "bits between two texts", min=-1, max=farthest + 1, interval=1, axisLabel=labels
    )
