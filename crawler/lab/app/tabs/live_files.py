"""Of files there is nothing live: their pages, and what the parameters would do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.console.progress import readable_bytes
from crawler.lab.app.figure_rows import Figures
from crawler.lab.app.page_table import MOST_ROWS, PageTable, Row, page_dialog
from crawler.lab.app.plain_text import plain
from crawler.lab.app.words import NOTHING, clock, count, share, spaced
from crawler.lab.judgement import LAYERS
from crawler.pages.verdicts import EXACT_DUPLICATE, NEAR_DUPLICATE, TEXT_DUPLICATE

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.judgement import Judgement

_KEEPING = frozenset(LAYERS[:3])
_VERDICTS = {
    "payload": EXACT_DUPLICATE,
    "text": TEXT_DUPLICATE,
    "simhash": NEAR_DUPLICATE,
    "candidate": NEAR_DUPLICATE,
    "minhash": NEAR_DUPLICATE,
}
"""What a crawl calls a page that a layer drops."""


class FilesView:
    """The pages of files in their order, judged by what is tried."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._judged: Judgement | None = None

    def build(self) -> None:
        """Put the elements where the page is being made."""
        with ui.element().classes("stack"):
            ui.label(
                "Nothing is being crawled here: these pages were read from files, and the "
                "verdicts are those that the parameters above would give them."
            ).classes("note")
            self._figures = Figures(
                {"pages": "pages", "kept": "kept", "dropped": "dropped", "saved": "saved"}
            )
            self._notes = ui.label().classes("note")
            self._shown = ui.label().classes("title")
            self._table = PageTable(self._open)

    async def refresh(self) -> None:
        """Show what is so now."""
        judged = self._judged = await self._lab.judge(self._trial.choice)
        self._figures.show(
            {
                "pages": count(len(judged)),
                "kept": count(judged.kept_count),
                "dropped": count(judged.dropped_count),
                "saved": readable_bytes(judged.saved_bytes),
            }
        )
        first = max(0, len(judged) - MOST_ROWS)
        self._table.show([self._row(place) for place in range(len(judged) - 1, first - 1, -1)])
        self._shown.text = f"The last {count(len(judged) - first)} pages"
        self._notes.text = plain("; ".join(self._lab.sources.notes), 1_000)

    def _row(self, place: int) -> Row:
        assert self._judged is not None
        page, judged = self._lab.session.pages[place], self._judged
        layer = LAYERS[judged.layer[place]]
        bits = int(judged.distance[place])
        return {
            "id": place,
            "time": clock(page.fetched_at),
            "verdict": spaced(_VERDICTS.get(layer, layer)),
            "kind": "is-kept" if layer in _KEEPING else "is-dropped",
            "title": plain(page.title, 120),
            "url": plain(page.url, 200),
            "words": count(page.words),
            "distance": NOTHING if bits < 0 else str(bits),
            "similarity": share(float(judged.similarity[place])),
        }

    async def _open(self, place: int) -> None:
        if self._judged is None or not 0 <= place < len(self._judged):
            return
        page = self._lab.session.pages[place]
        of = int(self._judged.original[place])
        facts = [
            ("title", page.title or NOTHING),
            ("layer", spaced(LAYERS[self._judged.layer[place]])),
            ("fetched", clock(page.fetched_at)),
            ("words", count(page.words)),
            ("body", readable_bytes(page.body_bytes)),
        ]
        page_dialog(page.url, facts, self._lab.session.pages[of].url if of >= 0 else None)
