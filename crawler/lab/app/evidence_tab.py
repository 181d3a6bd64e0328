"""The tab Evidence: how right is each distance, and which one follows from it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.charts import (
    DROPPED,
    INK,
    KEPT,
    MARK,
    ChartWords,
    ExplainedChart,
    Options,
    frame,
    lines,
    name_axis,
    share_axis,
)
from crawler.lab.app.elements import button, plain
from crawler.lab.app.parameter_trial import Answers
from crawler.lab.app.tables import FigureTable
from crawler.lab.distance_evidence import LABELS
from crawler.lab.words import NOTHING
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.distance_evidence import DistanceEvidence, EvidenceLine
    from neardup.evaluation.metrics import Interval

_SHOWS = (
    "Precision is the share of the pairs found by a {bound} that are duplicates, recall the share "
    "of all duplicates that it finds; the bands hold the true share in 95 of 100 cases. A good "
    "{bound} keeps both lines high: where precision falls, pages are lost that say something new; "
    "where recall falls, duplicates are kept."
)
_FILLED_BY = {
    "min_similarity": "It fills when pairs are labelled under Pairs: without labels, similarity "
    "itself stands in for them and says nothing of its own bound.",
    "max_distance": "It fills when two texts lie within 8 bits of each other.",
}

HEADS = ("#Found", "#Right", "#Precision", "#95 %", "#Recall", "#95 %")


def basis_words(evidence: DistanceEvidence, least: float) -> str:
    """Say in words which pairs the evidence rests on.

    Args:
        evidence: The evidence that is shown.
        least: The similarity from which Jaccard counts a pair as a duplicate.
    """
    # No pairs farther apart were looked at.
    recall = f"Recall is a share of the {evidence.population}."
    if evidence.basis != LABELS:
        return (
            f"Nothing is labelled yet, so exact similarity stands in for labels: of "
            f"{many(evidence.pairs, 'pair')}, {evidence.duplicates:,} have a Jaccard similarity of "
            f"{least:g} or more. Label some under Pairs, and they count instead. {recall}"
        )
    different = evidence.pairs - evidence.duplicates
    beyond = (
        f" Not counted, too far apart or not held: {evidence.beyond:,}." if evidence.beyond else ""
    )
    return (
        f"{many(evidence.pairs, 'labelled pair')}: {evidence.duplicates:,} duplicate, "
        f"{different:,} different.{beyond} {recall}"
    )


def cells(line: EvidenceLine) -> list[str]:
    """Return the cells of one bound, in the order of ``HEADS``."""
    return [
        f"{line.found:,}",
        f"{line.right:,}",
        *_cells(line.precision),
        *_cells(line.recall),
    ]


def _cells(interval: Interval | None) -> list[str]:
    if interval is None:
        return [NOTHING, ""]
    return [f"{interval.share:.3f}", f"{interval.low:.3f}\u2013{interval.high:.3f}"]


def evidence_curves(
    axis: str, evidence: Sequence[EvidenceLine], suggested: str | None = None
) -> Options:
    """Draw precision and recall over a bound, each in the band of its interval.

    Args:
        axis: The name of the axis.
        evidence: A line for each bound.
        suggested: The bound at which a line is drawn, as it is written.
    """
    names = [f"{line.bound:g}" for line in evidence]
    # Dashes let a line be seen that lies under the other one.
    series = [
        *_curve("precision", [line.precision for line in evidence], KEPT, "solid"),
        *_curve("recall", [line.recall for line in evidence], DROPPED, "dashed"),
    ]
    series[-1]["markLine"] = _suggestion(suggested, names)
    legend = {"data": ["precision", "recall"], "left": 52, "top": 0, "selectedMode": False}
    sizes = {"itemWidth": 14, "itemHeight": 8, "itemGap": 18, "icon": "rect"}
    return {
        **frame(top=44),
        "legend": {**legend, **sizes, "textStyle": {"color": INK}},
        "xAxis": {**name_axis(axis, names), "boundaryGap": False},
        "yAxis": share_axis("share"),
        "series": series,
    }


def _curve(name: str, intervals: list[Interval | None], colour: str, kind: str) -> list[Options]:
    """Return a line above the area between two lines: one stacked on another that is not seen."""
    line = {"type": "line", "emphasis": {"disabled": True}}
    hidden = {"stack": name, "symbol": "none", "silent": True, "lineStyle": {"width": 0}}
    seen = {
        "name": name,
        "symbol": "circle",
        "symbolSize": 6,
        "itemStyle": {"color": colour},
        "lineStyle": {"color": colour, "width": 2, "type": kind},
    }
    low = [None if one is None else round(one.low, 4) for one in intervals]
    height = [None if one is None else round(one.high - one.low, 4) for one in intervals]
    share = [None if one is None else round(one.share, 4) for one in intervals]
    area = {"color": colour, "opacity": 0.16}
    return [
        {**line, **hidden, "data": low},
        {**line, **hidden, "data": height, "areaStyle": area},
        {**line, **seen, "data": share},
    ]


def _suggestion(name: str | None, names: list[str]) -> Options:
    if name is None:
        # Without ``data`` ECharts would go on showing the last one.
        return lines()
    # At the edges it is written inwards, where nothing else is.
    align = {names[0]: "left", names[-1]: "right"}.get(name, "center")
    looks = {"color": MARK, "type": "solid", "width": 1.5}
    label = {"formatter": f"suggested {name}", "color": INK, "align": align}
    return {**lines({"xAxis": name}), "lineStyle": looks, "label": label}


class EvidenceTab:
    """A suggestion with its reason, and what it rests on as curves and in numbers."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        with ui.element().classes("stack"):
            self._answers = Answers(lab, trial, self._basis, self._answer)
            with ui.element().classes("card whole"):
                self._similarity = _Suggestion("min_similarity", trial)
                self._distance = _Suggestion("max_distance", trial)
                waiting = "Nothing is known yet: pages are being read and compared."
                self._rests_on = ui.label(waiting).classes("note basis")
            with ui.element().classes("stack"):
                self._similarities = _Lines("By min_similarity", "min_similarity")
                self._distances = _Lines("By max_distance", "max_distance, bits")

    async def refresh(self) -> None:
        self._answers.wake()

    def _basis(self) -> tuple[object, ...]:
        return frozenset(self._lab.labels.values()), len(self._lab.session)

    async def _answer(self) -> None:
        choice, labels = self._trial.choice, list(self._lab.labels.values())
        evidence = await self._lab.ask(choice, lambda session: session.evidence(choice, labels))
        self._put_first(by_similarity=choice.parameters.verify)
        self._distance.show(evidence.suggestion, evidence.reason)
        self._similarity.show(evidence.similarity, evidence.similarity_reason)
        self._rests_on.text = basis_words(evidence, choice.parameters.min_similarity)
        self._distances.show(evidence.by_distance, evidence.suggestion)
        self._similarities.show(evidence.by_similarity, evidence.similarity)

    def _put_first(self, *, by_similarity: bool) -> None:
        """Show the bound that decides above the other one."""
        for of_distance, of_similarity in (
            (self._distance, self._similarity),
            (self._distances, self._similarities),
        ):
            first = of_similarity if by_similarity else of_distance
            first.whole.move(target_index=0)


class _Suggestion:
    """The suggestion for one bound, its reason, and a button that tries it.

    Args:
        name: The name of the bound in ``Parameters``.
        trial: What the button changes.
    """

    def __init__(self, name: str, trial: Trial) -> None:
        self._name = name
        self._trial = trial
        self._bound: float | None = None
        with ui.element().classes("suggested-bound") as self.whole:
            with ui.element().classes("line"):
                self._words = ui.label().classes("suggestion")
                ui.element().classes("spacer")
                self._button = button("", self._try, "main")
            self._reason = ui.label().classes("note")
        self.whole.set_visibility(False)

    def show(self, bound: float | None, reason: str) -> None:
        self._bound = bound
        self.whole.set_visibility(bool(reason))
        shown = "" if bound is None else f"{bound:g}"
        self._words.text = (
            f"Suggested {self._name}: {shown}" if shown else f"No suggestion for {self._name} yet"
        )
        self._button.set_visibility(bool(shown))
        self._button.text = f"Try {shown}"
        words = plain(reason.removeprefix(f"{shown}: "))  # in the line above
        self._reason.text = f"{words[:1].upper()}{words[1:]}." if words else ""

    async def _try(self) -> None:
        await self._trial.set(self._trial.choice.with_parameters(**{self._name: self._bound}))


class _Lines:
    """One curve of evidence, and the same as a table."""

    def __init__(self, title: str, axis: str) -> None:
        self._axis = axis
        bound = axis.partition(",")[0]
        with ui.element().classes("cards") as self.whole:
            with ui.element().classes("card") as self._card:
                words = ChartWords(title, _SHOWS.format(bound=bound), _FILLED_BY[bound])
                self._chart = ExplainedChart(words, 300)
            with ui.element().classes("card") as self._numbers:
                heads = (f"#{bound}", *HEADS)
                self._table = FigureTable(heads, "evidence-table")

    def show(self, evidence: Sequence[EvidenceLine], suggested: float | None) -> None:
        mark = None if suggested is None else f"{suggested:g}"
        curves = evidence_curves(self._axis, evidence, mark)
        self._chart.show(curves, is_empty=not evidence)
        self._numbers.set_visibility(bool(evidence))
        self._card.classes(add="" if evidence else "whole", remove="whole" if evidence else "")
        rows = [(f"{line.bound:g}", *cells(line)) for line in evidence]
        self._table.show(rows, lambda name: "suggested" if name == mark else "")
