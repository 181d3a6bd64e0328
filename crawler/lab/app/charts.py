"""The common look of the lab's charts; colours are the page's own, so they follow its switch.

Charts are drawn as SVG, where a colour may be a variable of the style sheet. No option may hold
crawled text: ECharts makes HTML of labels and tooltips.
"""

from __future__ import annotations

from typing import Any

from nicegui import ui

from crawler.lab.app.drawings.axes import Options, frame


def redraw(chart: ui.echart, options: Options) -> None:
    """Draw a chart with other options, all of them."""
    chart.options.update(options)
    chart.update()


def move(chart: ui.echart, part: Options) -> None:
    """Change a part of each series, without sending the rest again.

    Args:
        chart: The chart that was drawn.
        part: The options that change: as many ``series`` as the chart has, each with its changes.
    """
    for series, changes in zip(chart.options["series"], part["series"], strict=True):
        # What a window that comes back is sent must be what this one shows.
        series.update(changes)
    chart.run_chart_method("setOption", part)


def chart(options: dict[str, Any], height_px: int = 220) -> ui.echart:
    """Return a chart without animation; our margins and colours fill in for missing options."""
    return ui.echart({**frame(), **options}, renderer="svg").style(f"height: {height_px}px; width: 100%")
