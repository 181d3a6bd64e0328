"""Frames and axes that all charts share. Colours are CSS variables, so they follow the page's.

Only numbers and our own words go into a chart; crawled text never does.
"""

from __future__ import annotations

from typing import Any

Options = dict[str, Any]

INK = "var(--ink)"
SOFT = "var(--soft)"
LINE = "var(--line)"
KEPT = "var(--kept)"
DROPPED = "var(--dropped)"
MARK = "var(--accent)"

_GROUPED = "value => value >= 1 ? value.toLocaleString('en-US') : ''"
_FONT_PX = 12
# By name: text is measured where the page's own font is not known.
_FONT = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
# Half of one text: a bar that stands for one has a height too where the axis is logarithmic.
_FLOOR = 0.5


def frame(*, top: int = 28, right: int = 16) -> Options:
    """Return a chart without anything in it; lines appear at once, since they follow a slider."""
    return {
        "animation": False,
        "textStyle": {"fontFamily": _FONT, "fontSize": _FONT_PX, "color": INK},
        "grid": {"left": 56, "right": right, "top": top, "bottom": 44},
        "tooltip": {"show": False},
    }


def number_axis(name: str, **more: Any) -> Options:
    """Return a horizontal axis of numbers, named below its middle."""
    return {"type": "value", **_looks(name, gap=26), "splitLine": {"show": False}, **more}


def bits_labels(last: int) -> Options:
    """Return labels of an axis from -1 to one more than the last bit; the ends have no label."""
    every = next(step for step in (1, 2, 4, 8) if last <= 16 * step)
    shown = f"bits => bits >= 0 && bits <= {int(last)} && bits % {every} === 0 ? bits : ''"
    return {"color": SOFT, "hideOverlap": True, ":formatter": shown}


def name_axis(name: str, names: list[str]) -> Options:
    """Return a horizontal axis of names."""
    return {
        "type": "category",
        "data": names,
        **_looks(name, gap=26),
        "axisTick": {"show": False},
    }


def share_axis(name: str) -> Options:
    """Return a vertical axis from 0 to 1."""
    return {"type": "value", "min": 0, "max": 1, **_looks(name, gap=40), "splitLine": _split()}


def count_axis(name: str) -> Options:
    """Return a vertical axis of counts, logarithmic: one and a million can both be seen."""
    axis = {"type": "log", "min": _FLOOR, "startValue": _FLOOR, **_looks(name, gap=40)}
    axis["axisLabel"] = {**axis["axisLabel"], ":formatter": _GROUPED}
    return {**axis, "splitLine": _split(), "minorTick": {"show": False}}


def _looks(name: str, *, gap: int) -> Options:
    return {
        "name": name,
        "nameLocation": "middle",
        "nameGap": gap,
        "nameTextStyle": {"color": SOFT},
        "axisLabel": {"color": SOFT, "hideOverlap": True},
        "axisLine": {"show": True, "lineStyle": {"color": LINE}},
        "axisTick": {"lineStyle": {"color": LINE}},
    }


def _split() -> Options:
    return {"show": True, "lineStyle": {"color": LINE}}
