"""Draw precision and recall at each distance, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.lab.app.drawings.axes import (
    DROPPED,
    INK,
    KEPT,
    MARK,
    Options,
    frame,
    name_axis,
    share_axis,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Curve:
    """A share over the distances, None where nothing is known.

    Attributes:
        name: The name for people.
        shares: The shares, 0 to 1.
        low: The lower ends of the intervals.
        high: The upper ends of the intervals.
    """

    name: str
    shares: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]


def evidence_curves(
    axis: str, names: Sequence[str], curves: Sequence[Curve], suggested: str | None
) -> Options:
    """Draw curves in bands.

    Args:
        axis: The name of the axis.
        names: The names of the points.
        curves: Two at most, each with a point for each name.
        suggested: The name at which a line is drawn.
    """
    # Dashes let a line be seen that lies under the other one.
    looks = ((KEPT, "solid"), (DROPPED, "dashed"))
    series = []
    for curve, (colour, kind) in zip(curves, looks, strict=False):
        series += [*_band(curve, colour), _line(curve, colour, kind)]
    if series:
        series[-1]["markLine"] = _suggestion(suggested, list(names))
    legend = {"data": [curve.name for curve in curves], "left": 52, "top": 0}
    sizes = {"itemWidth": 14, "itemHeight": 8, "itemGap": 18, "icon": "rect"}
    return {
        **frame(top=44),
        "legend": {**legend, **sizes, "textStyle": {"color": INK}, "selectedMode": False},
        "xAxis": {**name_axis(axis, list(names)), "boundaryGap": False},
        "yAxis": share_axis("share"),
        "series": series,
    }


def _line(curve: Curve, colour: str, kind: str) -> Options:
    return {
        "name": curve.name,
        "type": "line",
        "data": list(curve.shares),
        "symbol": "circle",
        "symbolSize": 6,
        "itemStyle": {"color": colour},
        "lineStyle": {"color": colour, "width": 2, "type": kind},
        "emphasis": {"disabled": True},
    }


def _band(curve: Curve, colour: str) -> list[Options]:
    """Return the area between two lines: one stacked on another that cannot be seen."""
    hidden = {
        "type": "line",
        "stack": curve.name,
        "symbol": "none",
        "silent": True,
        "lineStyle": {"width": 0},
        "emphasis": {"disabled": True},
    }
    height = [
        None if low is None or high is None else round(high - low, 6)
        for low, high in zip(curve.low, curve.high, strict=True)
    ]
    area = {"color": colour, "opacity": 0.16}
    return [{**hidden, "data": list(curve.low)}, {**hidden, "data": height, "areaStyle": area}]


def _suggestion(name: str | None, names: list[str]) -> Options:
    if name is None:
        # ECharts would go on showing the last one.
        return {"data": []}
    # At the edges it is written inwards, where nothing else is.
    align = {names[0]: "left", names[-1]: "right"}.get(name, "center")
    return {
        "silent": True,
        "symbol": "none",
        "animation": False,
        "lineStyle": {"color": MARK, "type": "solid", "width": 1.5},
        "label": {"formatter": f"suggested {name}", "color": INK, "align": align},
        "data": [{"xAxis": name}],
    }
