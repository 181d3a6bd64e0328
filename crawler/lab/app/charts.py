"""The common look of the lab's charts; colours are the page's own, so they follow its switch.

Charts are drawn as SVG, where a colour may be a variable of the style sheet. No option may hold
crawled text: ECharts makes HTML of labels and tooltips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nicegui import ui

if TYPE_CHECKING:
    from collections.abc import Mapping

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
SPLIT = {"show": True, "lineStyle": {"color": LINE}}


def frame(*, top: int = 28, right: int = 16) -> Options:
    """Return a chart without anything in it; lines appear at once, since they follow a slider."""
    return {
        "animation": False,
        "textStyle": {"fontFamily": _FONT, "fontSize": _FONT_PX, "color": INK},
        "grid": {"left": 56, "right": right, "top": top, "bottom": 44},
        "tooltip": {"show": False},
    }


def axis(kind: str, name: str = "", *, gap: int = 26, **more: Any) -> Options:
    """Return an axis (``value``, ``category``, ``time`` or ``log``), named beside its middle."""
    return {
        "type": kind,
        "name": name,
        "nameLocation": "middle",
        "nameGap": gap,
        "nameTextStyle": {"color": SOFT},
        "axisLabel": {"color": SOFT, "hideOverlap": True},
        "axisLine": {"show": True, "lineStyle": {"color": LINE}},
        "axisTick": {"lineStyle": {"color": LINE}},
        "splitLine": {"show": False},
        **more,
    }


def bits_axis(name: str, last: int) -> Options:
    """Return a horizontal axis from -1 to one more than the last bit; the ends have no label."""
    every = next(step for step in (1, 2, 4, 8) if last <= 16 * step)
    shown = f"bits => bits >= 0 && bits <= {int(last)} && bits % {every} === 0 ? bits : ''"
    label = {"color": SOFT, "hideOverlap": True, ":formatter": shown}
    return axis("value", name, min=-1, max=last + 1, interval=1, axisLabel=label)


def name_axis(name: str, names: list[str]) -> Options:
    return axis("category", name, data=names, axisTick={"show": False})


def share_axis(name: str) -> Options:
    return axis("value", name, gap=40, min=0, max=1, splitLine=SPLIT)


def count_axis(name: str) -> Options:
    """Return a vertical axis of counts, logarithmic: one and a million can both be seen."""
    label = {"color": SOFT, "hideOverlap": True, ":formatter": _GROUPED}
    bounds = {"min": _FLOOR, "startValue": _FLOOR}
    return axis("log", name, gap=40, **bounds, axisLabel=label, splitLine=SPLIT)


def lines(*data: Options) -> Options:
    """Return straight lines across a chart, as the ``markLine`` of a series."""
    return {"silent": True, "symbol": "none", "animation": False, "data": list(data)}


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


_WAITING = "Not drawn yet: pages are being read and compared."


class ChartWords(NamedTuple):
    """The words around a chart.

    Attributes:
        title: The title above it.
        shows: What it shows and how it is read.
        filled_by: What would fill it, which stands in its place while it is empty.
    """

    title: str
    shows: str
    filled_by: str


class ExplainedChart:
    """A chart with its title and, below it, how it is read; empty, what would fill it.

    Args:
        words: The words around it.
        height_px: The height of the chart alone.
        options: The first options, where the chart is not drawn as a whole later.
        legend: The words of its colours by the class that shows each, where it names none itself.
    """

    def __init__(
        self,
        words: ChartWords,
        height_px: int,
        options: Options | None = None,
        legend: Mapping[str, str] | None = None,
    ) -> None:
        self._words = words
        ui.label(words.title).classes("title")
        self.drawn = ui.echart({**frame(), **(options or {})}, renderer="svg")
        self.drawn.style(f"height: {height_px}px; width: 100%")
        with ui.element().classes("line legend") as self._legend:
            for look, meaning in (legend or {}).items():
                ui.label(meaning).classes(f"fate {look}")
        self._counted = ui.label().classes("note counted")
        self._explained = ui.label().classes("note explained")
        self.show(is_empty=True)
        self._explained.text = _WAITING

    def show(self, *, is_empty: bool, counted: str = "") -> None:
        """Say what is drawn, or what would fill the chart.

        Args:
            is_empty: Whether there is nothing to draw.
            counted: The numbers behind it.
        """
        for element in (self.drawn, self._legend):
            element.set_visibility(not is_empty)
        self._counted.text = counted
        self._explained.text = self._words.filled_by if is_empty else self._words.shows
