"""The tab Live: pages as they come, what was said of them, and what that saved."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from nicegui import ui
from rich.filesize import decimal

from crawler.lab.app.charts import (
    DROPPED,
    KEPT,
    SOFT,
    SPLIT,
    ChartWords,
    ExplainedChart,
    Options,
    axis,
    frame,
    lines,
)
from crawler.lab.app.elements import plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.tables import (
    MAX_ROWS,
    FigureRow,
    FigureTable,
    PageTable,
    Row,
    SearchField,
    crawl_choice,
    page_dialog,
)
from crawler.lab.crawl_source import SourceError
from crawler.lab.live import RATE_SECS, LivePage
from crawler.lab.sides import stored_texts
from crawler.lab.words import NOTHING, clock, count, share, spaced
from crawler.pages.live_parameters import SETTINGS
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import (
    DUPLICATES,
    OF_TEXTS,
    VERDICTS,
)
from crawler.pages.verdicts import KEPT as KEPT_VERDICTS
from crawler.storage.errors import JobError
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.live import Snapshot, Step

_ALL = ""
_MAX_HOSTS = 200


def _line(name: str, colour: str, sums: Iterable[tuple[float, int]]) -> Options:
    looks = {"lineStyle": {"color": colour, "width": 1.5}, "color": colour, "symbol": "none"}
    data = [[round(at * 1000), count] for at, count in sums]
    return {"type": "line", "name": name, "showSymbol": False, **looks, "data": data}


def _over_time(steps: Sequence[Step], tuned_at: Iterable[float]) -> Options:
    """Draw the pages kept and dropped so far, and when other parameters were applied."""
    kept = _line("kept", KEPT, ((step.at, step.kept) for step in steps))
    # Of earlier visits nothing is drawn.
    within = [at for at in tuned_at if steps and steps[0].at <= at <= steps[-1].at]
    kept["markLine"] = {
        **lines(*({"xAxis": round(at * 1000)} for at in within)),
        "label": {"formatter": "Apply", "color": SOFT, "fontSize": 10},
        "lineStyle": {"color": SOFT, "type": "dashed", "width": 1},
    }
    return {
        **frame(),
        "grid": {"left": 56, "right": 16, "top": 28, "bottom": 24},
        "legend": {
            "top": 0,
            "right": 0,
            "itemHeight": 8,
            "itemWidth": 14,
            "textStyle": {"color": SOFT, "fontSize": 11},
        },
        "tooltip": {"trigger": "axis", "confine": True},
        "xAxis": axis("time"),
        "yAxis": axis("value", min=0, minInterval=1, splitLine=SPLIT),
        "series": [kept, _line("dropped", DROPPED, ((step.at, step.dropped) for step in steps))],
    }


_OVER_TIME = ChartWords(
    "Kept and dropped over time",
    "Both lines count the pages that this visit judged; one that is unchanged is in neither. Where "
    "dropped climbs and kept lies flat, the crawl finds little that is new; a dashed line is an "
    "Apply, from which on other parameters hold.",
    "It fills with the first pages of this visit that are judged.",
)

_FIGURES = {
    "fetched": "fetched",
    "kept": "kept",
    "dropped": "dropped",
    "failed": "failed",
    "queued": "queued",
    "rate": f"pages/s, {RATE_SECS:.0f} s",
    "saved": "not stored again",
    "extractions": "not read again",
}


class LiveTab:
    """One crawl directory as it goes on, chosen among several."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._crawl = lab.crawls[0]
        with ui.element().classes("stack"):
            crawl_choice(lab, self._choose_crawl)
            self._figures = FigureRow(_FIGURES)
            self._counted = ui.label().classes("note")
            self._holds = ui.label().classes("note")
            with ui.element().classes("cards"):
                with ui.element().classes("card wide"):
                    self._chart = ExplainedChart(_OVER_TIME, 200)
                    self._stages = ui.label().classes("note")
                with ui.element().classes("card narrow"):
                    self._verdicts = FigureTable(["verdict", "#pages"])
            self._build_pages()

    async def _choose_crawl(self, place: int) -> None:
        self._crawl = self._lab.crawls[place]
        await self.refresh()

    def _build_pages(self) -> None:
        with ui.element().classes("line"):
            ui.label("Newest pages").classes("title")
            ui.element().classes("spacer")
            self._shown = ui.label().classes("soft")
            self._field = SearchField(self._show_pages)
            self._by_verdict = self._filter("verdict")
            self._by_host = self._filter("host")
        self._table = PageTable(self._open)

    def _filter(self, name: str) -> ui.select:
        chosen = ui.select({_ALL: f"every {name}"}, value=_ALL)
        chosen.props("dense outlined options-dense").classes(f"filter filter-{name}")
        chosen.on_value_change(self._show_pages)
        return chosen

    async def refresh(self) -> None:
        seen = self._crawl.seen
        self._figures.show(_figures(seen))
        self._counted.text = (
            "kept and dropped count all that the directory holds now, the other figures "
            f"visit {seen.visit}."
        )
        self._counted.set_visibility(seen.visit > 1)
        self._holds.text = held_words(seen)
        self._holds.set_visibility(not is_in_bar(self._lab))
        self._verdicts.show(
            (spaced(verdict), count(number)) for verdict, number in seen.verdicts.items()
        )
        stages = [f"{name} {secs:,.1f} s" for name, secs in seen.stage_secs.items()]
        self._stages.text = f"Time, all workers together: {', '.join(stages) or 'none yet'}"
        self._chart.show(_over_time(seen.steps, seen.tuned_at), is_empty=not seen.steps)
        self._offer(seen)
        self._show_pages()

    def _offer(self, seen: Snapshot) -> None:
        """Offer as filters what there is to see."""
        verdicts = {name: spaced(name) for name in VERDICTS if name in seen.verdicts}
        _set_options(self._by_verdict, {_ALL: "every verdict", **verdicts})
        hosts = {host: plain(host, 60) for host in _largest(seen.hosts)}
        _set_options(self._by_host, {_ALL: "every host", **hosts})

    def _show_pages(self) -> None:
        rows = []
        verdict, host = self._by_verdict.value or _ALL, self._by_host.value or _ALL
        for page in self._crawl.seen.pages:
            if verdict not in (_ALL, page.verdict) or host not in (_ALL, page.host):
                continue
            if not self._field.search.takes(page.url, page.title):
                continue
            rows.append(_row(page, _least(self._crawl.seen)))
            if len(rows) == MAX_ROWS:
                break
        self._table.show(rows)
        seen = self._crawl.seen
        of = f"the newest {len(seen.pages):,}" if seen.is_cut else f"{len(seen.pages):,}"
        self._shown.text = f"{len(rows):,} shown of {of}"

    async def _open(self, number: int) -> None:
        page = next((one for one in self._crawl.seen.pages if one.id == number), None)
        if page is None:
            return
        original = side = None
        # Where it cannot be read any more, the frame says so.
        with suppress(JobError, SourceError, StoppedError, sqlite3.Error):
            side = await self._lab.look(stored_texts, self._crawl.folder, page.id)
            if page.verdict in OF_TEXTS:
                original = await self._lab.look(self._crawl.original_of, page.id)
        facts = _facts(page, _least(self._crawl.seen))
        await page_dialog(page.url, facts, original, side)


def _figures(seen: Snapshot) -> dict[str, str]:
    tally = seen.tally
    return {
        "fetched": count(seen.fetched),
        "kept": count(tally.kept),
        "dropped": count(tally.duplicates),
        "failed": "not known" if tally.failed is None else count(tally.failed),
        "queued": count(tally.queued),
        "rate": f"{seen.pages_per_sec(time.time()):,.1f}",
        "saved": f"{decimal(tally.saved_bytes)} of {decimal(tally.fetched_bytes)}",
        "extractions": count(seen.saved_extractions),
    }


def is_in_bar(lab: Lab) -> bool:
    """Whether the bar says what holds: of one crawl, as soon as its parameters were changed."""
    tuned = lab.crawls[0].seen.tuned
    return len(lab.crawls) == 1 and tuned is not None and tuned.origin != SETTINGS


def held_words(seen: Snapshot) -> str:
    """Say which parameters verdicts are made with, since when, and whether the crawl knows."""
    tuned = seen.tuned
    if tuned is None:
        return "No crawl opened this directory yet."
    sentence = f"Parameters #{tuned.id} hold since {clock(tuned.since)}, set by {tuned.origin}"
    first = seen.first_with(tuned.id)
    if first is None:
        return f"{sentence}; no page was judged by them yet."
    when = "before" if first is seen.pages[-1] and seen.is_cut else "at"
    return f"{sentence}; the crawl took them over {when} {clock(first.fetched_at)}."


def _largest(hosts: Mapping[str, int]) -> list[str]:
    return sorted(hosts, key=lambda host: (-hosts[host], host))[:_MAX_HOSTS]


def _set_options(chosen: ui.select, options: dict[str, str]) -> None:
    if chosen.options != options:
        value = chosen.value if chosen.value in options else _ALL
        chosen.set_options(options, value=value)


def _row(page: LivePage, min_similarity: float | None) -> Row:
    return {
        "id": page.id,
        "time": clock(page.fetched_at),
        "verdict": spaced(page.verdict),
        "kind": _kind(page.verdict),
        "title": plain(page.title, 120),
        "url": plain(page.url, 200),
        "words": count(page.words),
        "distance": count(page.distance),
        "similarity": share(page.similarity, min_similarity),
    }


def _least(seen: Snapshot) -> float | None:
    """Return the bound that similarities are compared with; None: it is not known yet."""
    return None if seen.tuned is None else seen.tuned.parameters.min_similarity


def _kind(verdict: str) -> str:
    if verdict in KEPT_VERDICTS:
        return "is-kept"
    return "is-dropped" if verdict in DUPLICATES else "is-other"


def _facts(page: LivePage, min_similarity: float | None) -> list[tuple[str, str]]:
    meaning = VERDICTS.get(page.verdict, "")
    return [
        ("title", page.title or NOTHING),
        ("verdict", f"{spaced(page.verdict)}: {meaning}"),
        ("reason", in_words(page.reason) or NOTHING),
        ("fetched", clock(page.fetched_at)),
        ("words", count(page.words)),
        ("body", decimal(page.body_bytes)),
        ("distance", NOTHING if page.distance is None else many(page.distance, "bit")),
        ("similarity", share(page.similarity, min_similarity)),
        ("parameters", NOTHING if page.parameters is None else f"#{page.parameters}"),
    ]
