"""The tab Evidence: how right is each distance, and which one follows from it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nicegui import ui

from crawler.lab.app.charts import chart, redraw
from crawler.lab.app.choices import with_number
from crawler.lab.app.drawings.curves import Curve, evidence_curves
from crawler.lab.app.parts.answers import Answers
from crawler.lab.app.plain_text import plain
from crawler.lab.distance_evidence import LABELS
from crawler.lab.distance_text import in_pairs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.choice import Choice
    from crawler.lab.distance_evidence import DistanceEvidence, EvidenceLine
    from crawler.lab.pair_label import Label
    from neardup.evaluation.metrics import Interval

HEADS = ("Found", "Right", "Precision", "95 %", "Recall", "95 %")


def basis_words(evidence: DistanceEvidence, least: float) -> str:
    """Say in words which pairs the evidence rests on.

    Args:
        evidence: The evidence that is shown.
        least: The similarity from which Jaccard counts a pair as a duplicate.
    """
    if evidence.basis != LABELS:
        return (
            f"Nothing is labelled yet, so exact similarity stands in for labels: of "
            f"{in_pairs(evidence.pairs)}, {evidence.duplicates:,} have a Jaccard similarity of "
            f"{least:g} or more. Label some under Pairs, and they count instead. "
            f"{_recall(evidence)}"
        )
    different = evidence.pairs - evidence.duplicates
    beyond = (
        f" Not counted, too far apart or not held: {evidence.beyond:,}." if evidence.beyond else ""
    )
    return (
        f"{in_pairs(evidence.pairs, 'labelled')}: {evidence.duplicates:,} duplicate, "
        f"{different:,} different.{beyond} {_recall(evidence)}"
    )


def _recall(evidence: DistanceEvidence) -> str:
    """Say which pairs recall is a share of: no pairs farther apart were looked at."""
    return f"Recall is a share of the {evidence.population}."


def curves(lines: Sequence[EvidenceLine]) -> tuple[Curve, Curve]:
    """Return the curves of precision and recall."""
    return (
        _curve("precision", [line.precision for line in lines]),
        _curve("recall", [line.recall for line in lines]),
    )


def _curve(name: str, intervals: Iterable[Interval | None]) -> Curve:
    known = [(None, None, None) if one is None else tuple(map(_rounded, one)) for one in intervals]
    low, shares, high = ([one[part] for one in known] for part in range(3))
    return Curve(name, shares, low, high)


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
        return ["\u2013", ""]
    return [f"{interval.share:.3f}", f"{interval.low:.3f}\u2013{interval.high:.3f}"]


def _rounded(share: float) -> float:
    return round(share, 4)


class _Question(NamedTuple):
    choice: Choice
    labels: frozenset[Label]
    reading: int
    pages: int


class EvidenceTab:
    """A suggestion with its reason, and what it rests on as curves and in numbers."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._answers = Answers(lab, trial, self._ask, self._answer)
        self._distances = _Lines("By max_distance", "max_distance, bits")
        self._similarities = _Lines("By min_similarity", "min_similarity")
        self._distance = _Suggestion(self._try_distance)
        self._similarity = _Suggestion(self._try_similarity)

    def build(self) -> None:
        """Put the tab's elements into the panel that is open."""
        with ui.element().classes("stack"):
            self._answers.build()
            with ui.element().classes("card whole"):
                self._distance.build()
                self._similarity.build()
                self._basis = ui.label().classes("note basis")
            self._distances.build()
            self._similarities.build()

    async def refresh(self) -> None:
        """Show the current evidence; the answer comes when it is there."""
        self._answers.wake()

    def _ask(self) -> _Question:
        labels = frozenset(self._lab.labels.values())
        return _Question(self._trial.choice, labels, self._lab.reading, len(self._lab.session))

    async def _answer(self, asked: _Question) -> None:
        await self._lab.prepare(asked.choice)
        find = self._lab.session.evidence
        evidence = await self._lab.run(find, asked.choice, list(asked.labels))
        self._show(evidence, asked.choice.parameters.min_similarity)

    def _show(self, evidence: DistanceEvidence, least: float) -> None:
        self._distance.show("max_distance", evidence.suggestion, evidence.reason)
        self._similarity.show("min_similarity", evidence.similarity, evidence.similarity_reason)
        self._basis.text = basis_words(evidence, least)
        self._distances.show(evidence.by_distance, evidence.suggestion)
        self._similarities.show(evidence.by_similarity, evidence.similarity)

    async def _try_distance(self, bits: float) -> None:
        # As a line of a sweep: while candidates are looked at farther out, it would change nothing.
        await self._trial.set(self._trial.choice.within(int(bits)))

    async def _try_similarity(self, least: float) -> None:
        await self._trial.set(with_number(self._trial.choice, "min_similarity", least))


class _Suggestion:
    """The suggestion for one bound, its reason, and a button that tries it.

    Args:
        use: Called with the bound.
    """

    def __init__(self, use: Callable[[float], Awaitable[None]]) -> None:
        self._use = use
        self._bound: float | None = None

    def build(self) -> None:
        with ui.element().classes("line") as self._line:
            self._words = ui.label("Looking.").classes("suggestion")
            ui.element().classes("spacer")
            self._button = ui.button(on_click=self._try, color=None)
            self._button.props("flat dense").classes("main")
            self._button.set_visibility(False)
        self._reason = ui.label().classes("note")

    def show(self, name: str, bound: float | None, reason: str) -> None:
        self._bound = bound
        self._line.set_visibility(bool(reason))
        self._words.text = (
            f"No suggestion for {name} yet" if bound is None else f"Suggested {name}: {bound:g}"
        )
        self._button.set_visibility(bound is not None)
        self._button.text = "" if bound is None else f"Try {bound:g}"
        said = "" if bound is None else f"{bound:g}: "  # in the line above
        self._reason.text = plain(reason.removeprefix(said))

    async def _try(self) -> None:
        if self._bound is not None:
            await self._use(self._bound)


class _Lines:
    """One curve of evidence, and the same as a table."""

    def __init__(self, title: str, axis: str) -> None:
        self._title = title
        self._axis = axis

    def build(self) -> None:
        with ui.element().classes("cards") as self._whole:
            with ui.element().classes("card"):
                ui.label(self._title).classes("title")
                self._chart = chart({}, 300)
            with (
                ui.element().classes("card"),
                ui.element("table").classes("grid-table evidence-table"),
            ):
                with ui.element("thead"), ui.element("tr"):
                    for head in (self._axis.partition(",")[0], *HEADS):
                        with ui.element("th").classes("number"):
                            ui.label(head)
                self._body = ui.element("tbody")

    def show(self, lines: Sequence[EvidenceLine], suggested: float | None) -> None:
        self._whole.set_visibility(bool(lines))
        names = [f"{line.bound:g}" for line in lines]
        mark = None if suggested is None else f"{suggested:g}"
        redraw(self._chart, evidence_curves(self._axis, names, curves(lines), mark))
        self._body.clear()
        with self._body:
            for name, line in zip(names, lines, strict=True):
                with ui.element("tr").classes("suggested" if name == mark else ""):
                    for cell in (name, *cells(line)):
                        with ui.element("td").classes("number"):
                            ui.label(cell)
