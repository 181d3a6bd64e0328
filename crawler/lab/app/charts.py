"""What all charts of the lab look like; colours are the page's own, so they follow its switch.

Drawn as SVG, where a colour may be a variable of the style sheet. No option may hold crawled text:
ECharts makes HTML of labels and tooltips.
"""

from __future__ import annotations

from typing import Any

from nicegui import ui

INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
KEPT, DROPPED, ACCENT = "var(--kept)", "var(--dropped)", "var(--accent)"

_TEXT = {"color": SOFT, "fontSize": 11, "fontFamily": "system-ui, sans-serif"}


def axis(kind: str = "value", name: str | None = None, **more: Any) -> dict[str, Any]:
    """An axis: ``value``, ``log``, ``category`` or ``time``."""
    return {
        "type": kind,
        "name": name,
        "nameLocation": "middle",
        "nameGap": 28,
        "nameTextStyle": _TEXT,
        "axisLabel": _TEXT,
        "axisLine": {"lineStyle": {"color": LINE}},
        "axisTick": {"lineStyle": {"color": LINE}},
        "splitLine": {"lineStyle": {"color": LINE}},
        **more,
    }


def chart(options: dict[str, Any], height_px: int = 220) -> ui.echart:
    """A chart without animation, with our margins and colours where the options name none."""
    whole = {
        "animation": False,
        "grid": {"left": 48, "right": 16, "top": 24, "bottom": 40},
        "textStyle": _TEXT,
        "color": [KEPT, DROPPED, SOFT],
        **options,
    }
    return ui.echart(whole, renderer="svg").style(f"height: {height_px}px; width: 100%")
