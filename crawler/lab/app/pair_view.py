"""Two pages side by side, with what differs marked."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from crawler.lab.app.elements import closing_dialog, inert_link, plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.side_views import count_changes, side_by_side, side_rows, word_marks
from crawler.lab.comparison import own_shingles
from crawler.lab.crawl_source import SourceError
from crawler.lab.part_lists import pair_reasons
from crawler.lab.sides import ComparedText
from crawler.lab.words import (
    content_words,
    name_text,
    names_sentence,
    part_sentence,
    rest_sentence,
    share,
)
from neardup.boilerplate import boilerplate_spans
from neardup.comparison.diff import diff
from neardup.names import unpacked
from neardup.plurals import many
from neardup.whole import readable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nicegui.events import ValueChangeEventArguments

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.side_views import Row
    from crawler.lab.comparison import OwnShingles
    from crawler.lab.crawl_source import Blocks, LabPage
    from crawler.lab.part_lists import PairReasons, Spans
    from crawler.lab.sides import TextSide
    from neardup import Parameters
    from neardup.names import Name


_MAX_SHOWN = 20_000
"""The number of characters of a page's text that are shown beside its facts."""

_OPTIONS = {ComparedText.JUDGED.value: "Judged text", ComparedText.SHOWN.value: "Shown text"}
_MEANINGS = {
    ComparedText.JUDGED: "Verdicts rest on it.",
    ComparedText.SHOWN: "The main content, which is exported; no verdict rests on it.",
}


class TextSwitch:
    """Chooses which text of a page is looked at.

    Args:
        chosen: Called when the reader chose the other one.
    """

    def __init__(self, chosen: Callable[[], Awaitable[None]]) -> None:
        self._chosen = chosen
        with ui.element().classes("line text-switch") as self._line:
            self._toggle = ui.toggle(_OPTIONS, value=ComparedText.JUDGED.value)
            self._toggle.props("dense flat no-caps color=none toggle-color=none")
            self._toggle.on_value_change(self._changed)
            self._meaning = ui.label(_MEANINGS[ComparedText.JUDGED]).classes("soft")

    @property
    def compared(self) -> ComparedText:
        return ComparedText(self._toggle.value)

    def show(self, *, is_shown: bool) -> None:
        """Show the switch, or hide it where there is no text."""
        self._line.set_visibility(is_shown)

    def _changed(self, _: ValueChangeEventArguments[Any]) -> Awaitable[None]:
        self._meaning.text = _MEANINGS[self.compared]
        return self._chosen()


class PageText:
    """One page's text, its beginning where it is long.

    Args:
        side: The page.
    """

    def __init__(self, side: TextSide) -> None:
        self._side = side
        with ui.element().classes("stack page-text"):
            ui.label(plain(content_words(side.content))).classes("soft").props("data-content")
            self._switch = TextSwitch(self.show)
            self._text = ui.label().classes("crawled text side-rows")
            self._note = ui.label().classes("note")

    async def show(self) -> None:
        """Show the text that is chosen."""
        compared = self._switch.compared
        try:
            # A content of many elements takes seconds to write.
            words = await run.io_bound(self._side.words_of, compared) or ""
        except SourceError as error:
            words, self._note.text = "", plain(str(error), 500)
        else:
            more = len(words) - _MAX_SHOWN
            self._note.text = f"and {more:,} characters more" if more > 0 else ""
        if compared is self._switch.compared and not self._text.is_deleted:
            self._text.text = plain(words[:_MAX_SHOWN], keeps_lines=True)


MAX_CHARACTERS = 400_000
"""The largest number of characters of a text that is compared, which takes a second or two."""

_MAX_TITLE = 200
_SIDES = "the left page", "the right page"


@dataclass(frozen=True, slots=True)
class PairTexts:
    """The comparison of two texts, to be shown.

    Attributes:
        compared: The texts that are compared.
        rows: The texts side by side.
        changes: The number of places in which they differ.
        own_of_first: Shingles that the first text alone has.
        own_of_second: Shingles that the second text alone has.
        reasons: Why the two are one page or two.
        is_cut: Whether a text goes on beyond what was compared.
    """

    compared: ComparedText
    rows: list[Row]
    changes: int
    own_of_first: OwnShingles
    own_of_second: OwnShingles
    reasons: PairReasons
    is_cut: bool


def pair_texts(
    first: TextSide,
    second: TextSide,
    parameters: Parameters,
    compared: ComparedText = ComparedText.JUDGED,
) -> PairTexts:
    """Compare two texts word by word and shingle by shingle.

    Args:
        first: The text of the earlier page.
        second: The text of the later page.
        parameters: The parameters that are tried.
        compared: Whose words are compared; the reasons are always those of the judged texts.

    Raises:
        SourceError: What is shown of a page is damaged.
    """
    cut = first.text[:MAX_CHARACTERS], second.text[:MAX_CHARACTERS]
    names, blocks = (first.called, second.called), (first.blocks, second.blocks)
    reasons = pair_reasons(cut, names, blocks, parameters)
    if compared is ComparedText.JUDGED:
        whole = first.text, second.text
        ours, theirs, spans = *map(readable, cut), reasons.spans
    else:
        whole = first.words_of(compared), second.words_of(compared)
        ours, theirs = (text[:MAX_CHARACTERS] for text in whole)
        spans = _spans(ours, first.blocks), _spans(theirs, second.blocks)
    runs = diff(ours, theirs)
    return PairTexts(
        compared,
        side_by_side(runs, marks=(word_marks(ours, spans[0]), word_marks(theirs, spans[1]))),
        count_changes(runs),
        *own_shingles(ours, theirs, parameters.verify_shingle_size),
        reasons=reasons,
        is_cut=max(map(len, whole)) > MAX_CHARACTERS,
    )


def _spans(text: str, blocks: Blocks) -> Spans:
    return [] if blocks is None else boilerplate_spans(text, blocks)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two pages with their texts, which are not read again for another choice of text."""

    pages: tuple[LabPage, LabPage]
    sides: tuple[TextSide | None, TextSide | None]
    parameters: Parameters


class PairView:
    """One pair at a time; of several that were asked for, the last one is shown in the end."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._asked = 0
        self._pair: _Pair | None = None
        with ui.element().classes("pair-view") as self._whole:
            self._heads = ui.element().classes("sides heads")
            self._switch = TextSwitch(self._show_other_text)
            self._note = ui.label().classes("note")
            self._reasons = ReasonRows()
            self._rows = side_rows()
            self._shingles = ui.element().classes("sides shingles")

    async def show(self, first: int, second: int, parameters: Parameters) -> None:
        """Show two pages by their places, the earlier one on the left."""
        self._asked += 1
        asked = self._asked
        pages = self._lab.session.pages
        one, other = pages[first], pages[second]
        try:
            ours, theirs = await self._lab.sides([first, second])
        except StoppedError:
            return
        except SourceError as error:
            self._show_fault(asked, error)
            return
        await self._compare(asked, _Pair((one, other), (ours, theirs), parameters))

    async def _show_other_text(self) -> None:
        if self._pair is not None:
            self._asked += 1
            await self._compare(self._asked, self._pair)

    async def _compare(self, asked: int, pair: _Pair) -> None:
        found, (ours, theirs) = None, pair.sides
        if ours is not None and theirs is not None:
            texts = ours, theirs, pair.parameters, self._switch.compared
            try:
                # Long texts take their time, which the lab's own thread needs for others.
                found = await run.io_bound(pair_texts, *texts)
            except SourceError as error:
                self._show_fault(asked, error)
                return
        if asked == self._asked and not self._whole.is_deleted:
            self._show(pair, found)

    def _show_fault(self, asked: int, error: SourceError) -> None:
        if asked == self._asked and not self._whole.is_deleted:
            self.clear()
            self._note.text = plain(str(error), 500)

    def clear(self) -> None:
        self._asked += 1
        self._pair = None
        self._switch.show(is_shown=False)
        for part in (self._heads, self._shingles):
            part.clear()
        self._rows.show([])
        self._reasons.clear()
        self._note.text = ""

    def _show(self, pair: _Pair, found: PairTexts | None) -> None:
        self.clear()
        self._pair, parameters = pair, pair.parameters
        with self._heads:
            for page, side in zip(pair.pages, pair.sides, strict=True):
                _head(page, side)
        self._switch.show(is_shown=found is not None)
        if found is None:
            self._note.text = "The text of one of them is not held, so they cannot be compared."
            return
        self._note.text = _words_of(found, parameters.min_similarity)
        one, other = pair.pages
        names = unpacked(one.name), unpacked(other.name)
        self._reasons.show(names, found.reasons, parameters)
        self._rows.show(found.rows)
        shingle_size = parameters.verify_shingle_size
        with self._shingles:
            _shingles("Only on the left", found.own_of_first, shingle_size)
            _shingles("Only on the right", found.own_of_second, shingle_size)


def _head(page: LabPage, side: TextSide | None) -> None:
    with ui.element().classes("side head"):
        ui.label(plain(page.title, _MAX_TITLE) or "(no title)").classes("crawled head-title")
        inert_link(page.url).classes("mono")
        verdict = page.verdict.replace("_", " ")
        ui.label(f"{page.words:,} words, {verdict}").classes("soft")
        if side is not None:
            ui.label(plain(content_words(side.content))).classes("soft").props("data-content")
            show_picture(side)


def show_picture(side: TextSide) -> None:
    """Show the picture of a page, where there is one."""
    if side.picture is not None:
        data = base64.b64encode(side.picture).decode("ascii")
        with ui.element().classes("shot"):
            ui.image(f"data:image/webp;base64,{data}").props("fit=contain position='0 0'")


def _words_of(found: PairTexts, min_similarity: float) -> str:
    places = many(found.changes, "place")
    words = f"The {found.compared} texts differ in {places}."
    if not found.changes:
        words = f"Word for word the {found.compared} texts are the same."
    words += f" {_contained(found, min_similarity)}"
    return words + (" Only the beginning of both is compared." if found.is_cut else "")


def _contained(found: PairTexts, min_similarity: float) -> str:
    """Return the shares of the shingles that both have."""
    ours, theirs = found.own_of_first, found.own_of_second
    both = ours.of - ours.count
    union = ours.of + theirs.count
    return (
        f"Jaccard {share(both / union if union else 1.0, min_similarity)}, "
        f"{share(both / ours.of if ours.of else 1.0)} of the left is in the right, "
        f"{share(both / theirs.of if theirs.of else 1.0)} of the right is in the left."
    )


class ReasonRows:
    """Shows why two texts are one page or two: names, a part, the text outside boilerplate."""

    def __init__(self) -> None:
        with ui.element().classes("reasons") as self._whole:
            self._part = ui.label().classes("reason").props("data-reason=part")
            self._rest = ui.label().classes("reason").props("data-reason=rest")
            self._legend = ui.label("What the host repeats is dotted below.").classes("note")
            self._sentence = ui.label().classes("reason names-sentence")
            self._rows = side_rows()
        self.clear()

    def clear(self) -> None:
        self._whole.set_visibility(False)
        self._rows.show([])

    def show(self, names: tuple[Name, Name], reasons: PairReasons, parameters: Parameters) -> None:
        """Show the reasons, and both names with what differs marked.

        Args:
            names: What the texts are called.
            reasons: The reasons.
            parameters: The parameters that are tried.
        """
        part, rest = reasons.part, reasons.rest_share
        self._part.text = part_sentence(part, _SIDES)
        least = parameters.min_similarity
        self._rest.text = "" if rest is None else rest_sentence(rest, least)
        self._legend.set_visibility(any(reasons.spans))
        self._sentence.text = names_sentence(reasons.difference)
        self._rows.show(side_by_side(diff(name_text(names[0]), name_text(names[1]))))
        are_named = any(name_text(name) for name in names)
        self._sentence.set_visibility(are_named)
        self._whole.set_visibility(True)


def _shingles(title: str, own: OwnShingles, size: int) -> None:
    with ui.element().classes("side"):
        words = f"{title}: {own.count:,} of {own.of:,} shingles of {size} words"
        ui.label(words).classes("title")
        with ui.element().classes("shingle-list"):
            for shingle in own.first:
                ui.label(plain(shingle, 200)).classes("crawled mono")
        more = own.count - len(own.first)
        if more > 0:
            ui.label(f"and {more:,} more").classes("soft")


async def open_pair(lab: Lab, title: str, first: int, second: int, parameters: Parameters) -> None:
    """Show two pages by their places until the reader has seen them."""
    with closing_dialog(title, "wide"), ui.element().classes("scrolled"):
        view = PairView(lab)
    await view.show(first, second, parameters)
