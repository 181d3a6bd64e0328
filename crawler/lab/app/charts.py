"""The common look of the lab's charts; colours are the page's own, so they follow its switch.

Charts are drawn as SVG, where a colour may be a variable of the style sheet. No option may hold
crawled text: ECharts makes HTML of labels and tooltips.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from nicegui import ui

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neardup import Parameters

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
        legend: The words of its colours by the class that shows each, where it names none itself.
    """

    def __init__(
        self, words: ChartWords, height_px: int, legend: Mapping[str, str] | None = None
    ) -> None:
        self._words = words
        ui.label(words.title).classes("title")
        self.drawn = ui.echart(frame(), renderer="svg")
        self.drawn.style(f"height: {height_px}px; width: 100%")
        with ui.element().classes("line legend") as self._legend:
            for look, meaning in (legend or {}).items():
                ui.label(meaning).classes(f"fate {look}")
        self._counted = ui.label().classes("note counted")
        self._explained = ui.label().classes("note explained")
        self.show(frame(), is_empty=True)
        self._explained.text = _WAITING

    def show(self, options: Options, *, is_empty: bool, counted: str = "") -> None:
        """Draw the chart where that is another one, and say what is drawn or what would fill it.

        Args:
            options: All options of the chart.
            is_empty: Whether there is nothing to draw.
            counted: The numbers behind it.
        """
        if self.drawn.options != options:
            self.drawn.options.update(options)
            self.drawn.update()
        for element in (self.drawn, self._legend):
            element.set_visibility(not is_empty)
        self._counted.text = counted
        self._explained.text = self._words.filled_by if is_empty else self._words.shows


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
    bars = [
        {"value": [bits, int(count)], "itemStyle": _looks(bits, parameters)}
        for bits, count in enumerate(counts)
        if count
    ]
    series = {
        "type": "bar",
        "barWidth": "72%",
        "barCategoryGap": 0,
        "emphasis": {"disabled": True},
        "data": bars,
        "markLine": lines(_bound(parameters.max_distance)),
    }
    return {
        **frame(),
        "xAxis": bits_axis("bits to the nearest other text", max(last, _MIN_WIDTH)),
        "yAxis": count_axis("texts"),
        "series": [series],
    }


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
    points: dict[str, Any] = {
        "type": "scatter",
        # ECharts breaks off where nothing is to be drawn in this way.
        "large": bool(distances),
        "largeThreshold": 0,
        "symbolSize": 5,
        "itemStyle": {"color": KEPT, "opacity": 0.75},
        "data": _points(distances, similarities),
        **_duplicates(parameters),
    }
    return {
        **frame(right=48),
        "xAxis": bits_axis("bits between two texts", max([*distances, 8])),
        "yAxis": share_axis("similarity (Jaccard)"),
        "series": [points],
    }


def _duplicates(parameters: Parameters) -> Options:
    """Return the area of a scatter in which pairs are duplicates, and its bound."""
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
    return {"markArea": area, "markLine": lines(bound) if parameters.verify else lines()}


def _points(distances: Sequence[int], similarities: Sequence[float]) -> list[list[float]]:
    """Strew the points of a distance evenly, the same way each time (a golden-ratio sequence)."""
    return [
        [
            round(float(bits) + _SPREAD * (number * _GOLDEN % 1 - 0.5), 3),
            round(float(similarity), 4),
        ]
        for number, (bits, similarity) in enumerate(zip(distances, similarities, strict=True))
    ]
