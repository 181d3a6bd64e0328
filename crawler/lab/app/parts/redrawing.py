"""Charts that are drawn anew, or in part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nicegui import ui

    from crawler.lab.app.drawings.axes import Options


def redraw(chart: ui.echart, options: Options) -> None:
    """Draw a chart with other options, all of them."""
    chart.options.update(options)
    chart.update()


def move(chart: ui.echart, part: Options) -> None:
    """Change a part of each series, without sending the rest again.

    Args:
        chart: That was drawn.
        part: Has as many ``series`` as it, each with what becomes another.
    """
    for series, changes in zip(chart.options["series"], part["series"], strict=True):
        # What a window that comes back is sent must be what this one shows.
        series.update(changes)
    chart.run_chart_method("setOption", part)
