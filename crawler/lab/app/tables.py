"""Figures in rows, small tables, and the table of pages; all that stands in them is text."""

from __future__ import annotations

import csv
import json
import math
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from crawler.lab.app.elements import button, closing_dialog, inert_link, plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.pair_view import PageText
from crawler.lab.crawl_source import SourceError
from crawler.lab.near_pairs import EVERY_PAGE, ListFilter
from crawler.lab.words import NOTHING
from neardup.evaluation.near_arrays import LAYERS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from nicegui.events import GenericEventArguments, ValueChangeEventArguments

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.crawl_source import LabPage
    from crawler.lab.judgement import Judgement
    from crawler.lab.sides import TextSide


CSV, JSON_LINES = FORMATS = ("csv", "jsonl")
"""The formats of a table, which are the endings of its file too."""

MEDIA_TYPES = {CSV: "text/csv; charset=utf-8", JSON_LINES: "application/x-ndjson"}

WOULD_BE_KEPT, WOULD_BE_DROPPED = "kept", "dropped"

_PLACES = 6

Fields = dict[str, str | int | float | None]


def changed_pages(
    tried: Judgement, stored: Judgement, pages: Sequence[LabPage]
) -> Iterator[Fields]:
    """Yield a row for each page that is kept or dropped otherwise, in crawl order.

    ``repeats``, ``distance``, ``similarity`` and ``containment`` are those of the judgement that
    drops the page: the tried one where it would be dropped, that of the crawl where it would be
    kept.

    Args:
        tried: The judgement by other parameters.
        stored: That of the crawl.
        pages: The pages that were judged.
    """
    changes = tried.changes_from(stored)
    rows = [(place, True) for place in changes.now_kept.tolist()]
    rows += [(place, False) for place in changes.now_dropped.tolist()]
    for place, is_kept in sorted(rows):
        drops = stored if is_kept else tried
        original, bits = drops.named(place), int(drops.distance[place])
        yield {
            "url": pages[place].url,
            "title": pages[place].title,
            "tried": WOULD_BE_KEPT if is_kept else WOULD_BE_DROPPED,
            "layer_stored": LAYERS[stored.layer[place]],
            "layer_tried": LAYERS[tried.layer[place]],
            "repeats": pages[original].url if original >= 0 else None,
            "distance": bits if bits >= 0 else None,
            "similarity": _share(float(drops.similarity[place])),
            "containment": _share(drops.containment_of(place)),
        }


def table_bytes(rows: Iterable[Mapping[str, object]], kind: str) -> bytes:
    """Write rows with the same fields as a file of UTF-8; a missing value is empty or ``null``.

    Args:
        rows: The rows.
        kind: One of ``FORMATS``.
    """
    file = StringIO(newline="")
    if kind == JSON_LINES:
        # Halves of surrogate pairs have no UTF-8.
        file.writelines(json.dumps(row) + "\n" for row in rows)
    else:
        known = list(rows)
        writer = csv.DictWriter(file, known[0] if known else ())
        writer.writeheader()
        writer.writerows(known)
    return file.getvalue().encode("utf-8", "replace")


def _share(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, _PLACES)


MAX_ROWS = 200

Row = dict[str, str | int]

_VERDICT = """
<q-td :props="props"><span :class="'verdict ' + props.row.kind">{{ props.value }}</span></q-td>
"""


class FigureRow:
    """Numbers in a row, each above its name.

    Args:
        names: The name under each number, by a key.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._values: dict[str, ui.label] = {}
        with ui.element().classes("figures") as self.element:
            for key, name in names.items():
                with ui.element().classes("figure"):
                    value = ui.label(NOTHING).classes("value").props(f"data-figure={key}")
                    ui.label(name).classes("name")
                self._values[key] = value

    def show(self, values: Mapping[str, str]) -> None:
        for key, value in values.items():
            self._values[key].text = value


class FigureTable:
    """A table whose rows come and go.

    Args:
        heads: The heads of the columns; those that begin with ``#`` hold numbers.
        look: The classes of the table.
    """

    def __init__(self, heads: Sequence[str], look: str = "") -> None:
        self._numbers = [head.startswith("#") for head in heads]
        self._looks: list[str] = []
        self._labels: list[list[ui.label]] = []
        with ui.element("table").classes(f"grid-table {look}"):
            if any(head.strip("#") for head in heads):
                with ui.element("thead"), ui.element("tr"):
                    self._cells([head.removeprefix("#") for head in heads], "th")
            self._body = ui.element("tbody")

    def show(
        self, rows: Iterable[Sequence[str]], looks: Callable[[str], str] = lambda _: ""
    ) -> None:
        """Show these rows and no others.

        Args:
            rows: The texts of their cells.
            looks: Returns the classes of a row by the text of its first cell.
        """
        wanted = [tuple(row) for row in rows]
        kinds = [looks(row[0]) for row in wanted]
        if kinds == self._looks:
            for labels, row in zip(self._labels, wanted, strict=True):
                for label, text in zip(labels, row, strict=True):
                    label.text = text
            return
        self._looks, self._labels = kinds, []
        self._body.clear()
        with self._body:
            for kind, row in zip(kinds, wanted, strict=True):
                with ui.element("tr").classes(kind):
                    self._labels.append(self._cells(row, "td"))

    def _cells(self, texts: Sequence[str], tag: str) -> list[ui.label]:
        labels = []
        for text, is_number in zip(texts, self._numbers, strict=True):
            with ui.element(tag).classes("number" if is_number else ""):
                labels.append(ui.label(text).classes("crawled"))
        return labels


def _column(name: str, label: str, style: str, *, is_number: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "field": name,
        "align": "right" if is_number else "left",
        "headerStyle": style,
        "classes": f"column-{name} crawled",
        "headerClasses": f"column-{name}",
    }


_COLUMNS = [
    _column("time", "time", "width: 8.5em"),
    _column("verdict", "verdict", "width: 10em"),
    _column("title", "title", "width: 32%"),
    _column("url", "URL", "width: auto"),
    _column("words", "words", "width: 5.5em", is_number=True),
    _column("distance", "bits", "width: 4em", is_number=True),
    _column("similarity", "similarity", "width: 6em", is_number=True),
]


def crawl_choice(lab: Lab, chosen: Callable[[int], Awaitable[None]]) -> None:
    """Make a list to choose a crawl directory from, where the lab looks at several.

    Args:
        lab: The lab.
        chosen: Called with the place of the chosen one among the lab's crawls.
    """
    if len(lab.crawls) < 2:
        return
    names = {place: plain(one.name, 100) for place, one in enumerate(lab.sources.parts)}
    choice = ui.select(names, value=0, on_change=lambda event: chosen(int(event.value)))
    choice.props("dense outlined options-dense aria-label=crawl").classes("crawl-choice")


class SearchField:
    """A field for words of URLs and titles.

    Args:
        changed: Called when the reader wrote something else, and paused.
    """

    def __init__(self, changed: Callable[[], Awaitable[None] | None]) -> None:
        self.search = EVERY_PAGE
        self._changed = changed
        field = ui.input(placeholder="Search URL and title", on_change=self._wrote)
        field.props("dense outlined clearable debounce=300 aria-label='search URL and title'")
        field.classes("search")

    def _wrote(self, event: ValueChangeEventArguments[str | None]) -> Awaitable[None] | None:
        search = ListFilter.of(event.value)
        if search == self.search:
            return None
        self.search = search
        return self._changed()


class DownloadButtons:
    """Buttons that give a table to the browser as a file.

    Args:
        words: The words before the buttons.
        name: The file name without its ending.
        rows: Returns the rows of the table; what it raises is shown.
    """

    def __init__(
        self, words: str, name: str, rows: Callable[[], Awaitable[Iterable[Mapping[str, object]]]]
    ) -> None:
        self._name = name
        self._rows = rows
        with ui.element().classes("line downloads") as self._line:
            ui.label(words).classes("soft")
            for kind in FORMATS:
                made = button(kind.upper(), partial(self._give, kind))
                made.props(f"data-download={name}.{kind}")

    def show(self, *, has_rows: bool) -> None:
        """Show the buttons where there is something to give."""
        self._line.set_visibility(has_rows)

    async def _give(self, kind: str) -> None:
        try:
            rows = await self._rows()
        except (StoppedError, SourceError) as error:
            ui.notify(plain(str(error)) or "Stopped.", type="warning")
            return
        written = await run.io_bound(table_bytes, rows, kind)
        ui.download.content(written or b"", f"{self._name}.{kind}", MEDIA_TYPES[kind])


class PageTable:
    """Pages, some hundred rows at most; what is not shown is not sent.

    Args:
        on_click: Called with the id of the row that was clicked.
    """

    def __init__(self, on_click: Callable[[int], Any]) -> None:
        self._table = ui.table(rows=[], columns=_COLUMNS, row_key="id")
        self._table.props("flat dense separator=horizontal").classes("plain-table pages")
        self._table.add_slot("body-cell-verdict", _VERDICT)
        self._table.add_slot("no-data", '<div class="empty">No page yet.</div>')

        def clicked(event: GenericEventArguments) -> Any:
            row = event.args[1] if isinstance(event.args, list) and len(event.args) > 1 else None
            number = row.get("id") if isinstance(row, dict) else None
            return on_click(number) if isinstance(number, int) else None

        self._table.on("rowClick", clicked, [[], ["id"], []])

    def show(self, rows: Sequence[Row]) -> None:
        if rows != self._table.rows:
            self._table.rows = list(rows)


async def page_dialog(
    url: str, facts: Sequence[tuple[str, str]], original: str | None, side: TextSide | None
) -> None:
    """Show all that is known of a page; its URLs are opened only after another question.

    Args:
        url: The URL of the page.
        facts: Names and values.
        original: The URL of the page that it repeats, resembles or is a part of.
        side: Its texts; None: they are not stored.
    """
    with closing_dialog("Page"):
        inert_link(url).classes(remove="one-line", add="mono")
        known = [(name, plain(value, 2_000)) for name, value in facts if value != NOTHING]
        FigureTable(["", ""], "facts").show(known)
        if original is not None:
            ui.label("repeats, resembles or is a part of").classes("soft")
            inert_link(original).classes(remove="one-line", add="mono")
        text = None if side is None else PageText(side)
    if text is not None:
        await text.show()
