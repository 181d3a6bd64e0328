"""The picture of a sweep, by matplotlib."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.lab.judgement import MAX_DISTANCE, MIN_SIMILARITY
from neardup.files.durable import named_file
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.lab.judgement import Sweep, SweepLine
    from crawler.lab.near_pairs import NearestCounts
    from neardup import Parameters

ENDINGS = (".png", ".svg", ".pdf")
"""The endings of files that can be drawn."""

_INK, _SOFT, _GRID = "#22272e", "#6b7480", "#e4e7eb"
_WITHIN, _REACHED, _BEYOND, _MARK = "#c2571a", "#e3a67f", "#9fb0c3", "#22272e"
_KEPT, _DROPPED = "#3b6ea5", "#c2571a"
_MIN_RANGE = 16
_NAME_CHARACTERS = 70

_AXES = {MAX_DISTANCE: "distance tried, bits", MIN_SIMILARITY: "similarity tried"}

_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlecolor": _INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": _GRID,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "text.color": _INK,
    "text.parse_math": False,
    "svg.fonttype": "none",
}


def is_installed() -> bool:
    return find_spec("matplotlib") is not None


def draw_sweep(
    path: Path,
    name: str,
    histogram: NearestCounts,
    sweep: Sweep,
    holds: Parameters,
) -> None:
    """Draw distances of nearest neighbours, and what each value of a bound keeps and drops.

    Args:
        path: One of ``ENDINGS``; what stood there is replaced.
        name: The name of the source, for the title.
        histogram: The histogram by the features that were tried.
        sweep: The sweep, which varies a bound.
        holds: The parameters that hold, whose bounds are drawn in.

    Raises:
        OSError: It cannot be written.
    """
    # A figure of its own needs no display, and leaves nothing behind.
    from matplotlib import rc_context  # noqa: PLC0415  (takes a second)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(_STYLE):
        figure: Any = Figure(figsize=(11, 4.6), dpi=150, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08, wspace=0.04)
        grid = figure.add_gridspec(2, 2, width_ratios=(1.35, 1))
        _draw_neighbours(figure.add_subplot(grid[:, 0]), histogram, holds)
        kept = figure.add_subplot(grid[0, 1])
        _draw_counts(kept, sweep, "kept", _KEPT, holds)
        _draw_counts(figure.add_subplot(grid[1, 1], sharex=kept), sweep, "dropped", _DROPPED, holds)
        figure.suptitle(_title(name, sweep.lines), x=0.012, ha="left", fontsize=10, color=_SOFT)
        with named_file(path) as file:
            figure.savefig(file, format=path.suffix[1:] or None, facecolor="white")


def _title(name: str, lines: Sequence[SweepLine]) -> str:
    shown = name if len(name) <= _NAME_CHARACTERS else f"...{name[-_NAME_CHARACTERS:]}"
    pages = lines[0].kept + lines[0].dropped
    parameters = lines[0].choice.parameters
    printable = "".join(one if one.isprintable() else "?" for one in shown)
    pages_said = many(pages, "page")
    return f"{printable}: {pages_said}, {parameters.fingerprint_features}"


def _draw_neighbours(axes: Any, histogram: NearestCounts, holds: Parameters) -> None:
    counts = histogram.counts
    farthest = max(_MIN_RANGE, int(np.flatnonzero(counts)[-1]) if counts.any() else 0)
    bits = np.arange(farthest + 1)
    colours = [_colour(bit, holds) for bit in bits.tolist()]
    axes.bar(bits, counts[: farthest + 1], width=0.86, color=colours)
    sample = f", a sample of {histogram.asked:,} texts" if histogram.is_sampled else ""
    axes.set(
        title="Distance of each text to its nearest neighbour",
        xlabel="Hamming distance, bits",
        ylabel=f"distinct texts{sample}",
        xlim=(-0.8, farthest + 0.8),
    )
    if counts.any():
        axes.set_yscale("log")
        axes.set_ylim(0.7, float(counts.max()) * 2.6)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_minor_formatter("")
    else:
        axes.set(yticks=[])
        axes.text(0.5, 0.5, "no two texts to compare", transform=axes.transAxes, ha="center")
        return
    _draw_bound(axes, holds)


def _colour(bits: int, holds: Parameters) -> str:
    if bits <= holds.max_distance:
        return _WITHIN
    return _REACHED if holds.verify else _BEYOND


def _draw_bound(axes: Any, holds: Parameters) -> None:
    top, place = 0.985, holds.max_distance + 0.5
    axes.axvline(place, ymax=top, color=_MARK, linewidth=1.1)
    axes.annotate(
        f"max_distance {holds.max_distance}",
        (place, top),
        xycoords=("data", "axes fraction"),
        xytext=(5, 0),
        textcoords="offset points",
        va="top",
        fontsize=9,
    )


def _draw_counts(axes: Any, sweep: Sweep, what: str, colour: str, holds: Parameters) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    values = sweep.values
    counts = [getattr(line, what) for line in sweep.lines]
    axes.plot(values, counts, color=colour, linewidth=1.8, marker="o", markersize=4.5)
    for value, count in zip(values, counts, strict=True):
        axes.annotate(
            f"{count:,}",
            (value, count),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=colour,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    low, high = min(counts), max(counts)
    room = max(1.0, (high - low) * 0.28)
    axes.set(title=f"Pages {what}", ylim=(max(0, low - room * 0.6), high + room), xticks=values)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=4)
    axes.margins(x=0.06)
    if what == "dropped":
        axes.set_xlabel(_AXES[sweep.bound])
        axes.set_xticks(values, [f"{value:g}" for value in values], fontsize=8)
    else:
        axes.tick_params(labelbottom=False)
    running = sweep.value_of(holds)
    if running in values:
        axes.axvline(running, color=_GRID, linewidth=6, zorder=0)
