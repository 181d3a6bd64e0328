"""The tab Compare: two texts under every measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.elements import button, plain
from crawler.lab.app.pair_view import (
    MAX_CHARACTERS,
    PairTexts,
    ReasonRows,
    TextSwitch,
    pair_texts,
    show_picture,
)
from crawler.lab.app.parameter_trial import Answers
from crawler.lab.app.side_views import side_rows
from crawler.lab.app.tables import FigureTable
from crawler.lab.comparison import Comparison, compare
from crawler.lab.crawl_source import SourceError
from crawler.lab.sides import TextSide, stored_side
from crawler.lab.words import NOTHING, content_words, count, share, spaced
from neardup.names import name_of
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.comparison import Side
    from crawler.lab.crawl_source import Sources
    from crawler.lab.session import Session
    from crawler.lab.sides import ComparedText
    from neardup import Parameters

_BITS = 64

Line = tuple[str, str, str]

_HINT = "the URL of a page of this crawl, or a text"


def side_lines(found: Comparison) -> Iterator[Line]:
    """Yield the measures of each text for itself: name, first, second."""
    first, second = found.first, found.second
    ours, theirs = first.own, second.own
    yield "words", count(first.words), count(second.words)
    yield f"{found.shingle_size}-word shingles", count(ours.of), count(theirs.of)
    yield "shingles of this text alone", count(ours.count), count(theirs.count)
    yield "text digest", first.digest.hex(), second.digest.hex()
    yield f"SimHash of {found.features}", _fingerprint(first), _fingerprint(second)


def _fingerprint(side: Side) -> str:
    return NOTHING if side.fingerprint is None else f"{side.fingerprint:016x}"


def pair_lines(found: Comparison, min_similarity: float) -> Iterator[tuple[str, str]]:
    """Yield the measures of both texts together: name, value.

    Those that are compared with ``min_similarity`` have as many digits as show on which side of it
    they lie.
    """
    yield "digests", "equal" if found.is_equal else "different"
    yield "names", found.reasons.difference or "no difference"
    yield "share a band", "yes" if found.shares_band else "no"
    yield "Hamming distance", NOTHING if found.distance is None else many(found.distance, "bit")
    yield "Jaccard, exact", share(found.jaccard, min_similarity)
    if found.estimate is None:
        yield "Jaccard by MinHash", NOTHING
    else:
        error = found.estimate.standard_error
        yield "Jaccard by MinHash", f"{share(found.estimate.similarity)} ± {share(error)}"
    part = found.reasons.part
    yield "part of the other", NOTHING if part is None else ("first", "second")[part.place]
    yield "shared outside boilerplate", share(found.reasons.rest_share, min_similarity)
    yield "first contained in second", share(found.first_in_second)
    yield "second contained in first", share(found.second_in_first)
    yield "cosine of counted words", share(found.cosine)
    yield "cosine of log counts", share(found.log_cosine)
    yield (
        "characters that stay",
        "too long to tell" if found.edit_ratio is None else share(found.edit_ratio),
    )


def verdict_lines(found: Comparison) -> Iterator[Line]:
    """Yield the verdict on the second text at each distance: bits, confirmed, by distance alone."""
    for at in found.verdicts:
        yield str(at.max_distance), spaced(at.confirmed), spaced(at.alone)


def bit_cells(found: Comparison) -> list[tuple[str, str]]:
    """Return the 64 bits from the highest down: classes of a cell, and what it is in words."""
    first, second = found.first.fingerprint, found.second.fingerprint
    if first is None or second is None:
        return []
    cells = []
    for place in range(_BITS - 1, -1, -1):
        ours, theirs = first >> place & 1, second >> place & 1
        kind = "differs" if ours != theirs else ("one" if ours else "zero")
        cells.append((f"bit {kind}", f"bit {place}: {ours} and {theirs}"))
    return cells


def find(given: str, session: Session, sources: Sources) -> TextSide:
    """Return the text that the reader entered, or that of the page whose URL it is.

    Raises:
        SourceError: There is nothing, or a URL is that of no page, or of one without a text.

    Complexity: O(pages).
    """
    written = given.strip()
    if not written:
        raise SourceError("two texts, or two URLs of pages, are needed")
    # Files have URLs too; any other one is a text, so that no file is told of.
    if not is_url(written) and all(page.url != written for page in session.pages):
        return TextSide("", "", given, called=name_of(given))
    try:
        return stored_side(session, sources, written)
    except SourceError as error:
        hint = "(the lab fetches nothing: put in the text itself)"
        raise SourceError(f"{plain(str(error), 500)} {hint}") from None


def is_url(written: str) -> bool:
    """Whether it is one word that begins as web addresses do."""
    return written.lower().startswith(("http://", "https://")) and len(written.split()) == 1


class CompareTab:
    """The tab Compare: it compares texts that were put in and stored pages, and fetches nothing."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._given: tuple[str, str] | None = None
        self._times = 0
        with ui.element().classes("stack"):
            ui.label(
                "URLs are looked up among the pages that were crawled; the lab fetches nothing."
            ).classes("note")
            with ui.element().classes("sides-in"):
                self._first, self._second = (self._field(name) for name in ("first", "second"))
            with ui.element().classes("line"):
                button("Compare", self._compare, "main")
                self._answers = Answers(lab, trial, self._basis, self._answer)
            self._result = ui.element().classes("stack")
            self._result.set_visibility(False)
            with self._result:
                self._build_result()

    def _field(self, name: str) -> ui.textarea:
        field = ui.textarea(placeholder=f"{name}: {_HINT}")
        field.props(f"dense outlined rows=5 maxlength={MAX_CHARACTERS} aria-label='{name}'")
        return field.classes(f"given given-{name}")

    def _build_result(self) -> None:
        self._verdict = ui.label().classes("suggestion")
        self._notes = ui.label().classes("note")
        self._reasons = ReasonRows()
        with ui.element().classes("cards"):
            with ui.element().classes("card measures-card"):
                ui.label("Both texts").classes("title")
                self._pair = FigureTable(["", "#"])
            with ui.element().classes("card bits-card"):
                ui.label("Bits of both fingerprints, highest first").classes("title")
                self._bits = ui.element().classes("bits-grid")
                ui.label("Filled: 1, empty: 0; coloured where they differ.").classes("note")
            with ui.element().classes("card verdicts-card"):
                ui.label("Verdict on the second, had the first been kept").classes("title")
                self._verdicts = FigureTable(["max_distance", "confirmed", "distance alone"])
            with ui.element().classes("card whole sides-card"):
                self._sides = FigureTable(["", "#first", "#second"])
        self._pictures = ui.element().classes("sides")
        self._switch = TextSwitch(self.refresh)
        self._changes = ui.label().classes("title")
        self._texts = side_rows()

    async def _compare(self) -> None:
        self._given = str(self._first.value or ""), str(self._second.value or "")
        self._times += 1
        await self.refresh()

    async def refresh(self) -> None:
        self._answers.wake()

    def _basis(self) -> tuple[object, ...]:
        """Name how often it was asked for too: a page that was missing may have come."""
        return self._switch.compared, self._given, self._times

    async def _answer(self) -> None:
        """Compare; nothing is looked for until there are texts."""
        parameters = self._trial.choice.parameters
        if self._given is None:
            return
        try:
            measured = await self._lab.run(
                self._measure, self._given, parameters, self._switch.compared
            )
        except SourceError:
            self._result.set_visibility(False)
            raise
        self._show(*measured, parameters)

    def _measure(
        self, given: tuple[str, str], parameters: Parameters, compared: ComparedText
    ) -> tuple[Comparison, PairTexts, TextSide, TextSide]:
        first, second = (find(one, self._lab.session, self._lab.sources) for one in given)
        found = compare(
            first.text[:MAX_CHARACTERS],
            second.text[:MAX_CHARACTERS],
            parameters,
            are_main=first.is_main and second.is_main,
            names=(first.called, second.called),
            blocks=(first.blocks, second.blocks),
        )
        return found, pair_texts(first, second, parameters, compared), first, second

    def _show(
        self,
        found: Comparison,
        texts: PairTexts,
        first: TextSide,
        second: TextSide,
        parameters: Parameters,
    ) -> None:
        self._verdict.text = _sentence(found, parameters)
        self._notes.text = " ".join(_notes(first, second, texts))
        self._pair.show(pair_lines(found, parameters.min_similarity))
        self._reasons.show(found.names, found.reasons, parameters)
        self._sides.show(side_lines(found))
        self._verdicts.show(verdict_lines(found))
        self._bits.clear()
        with self._bits:
            for kind, words in bit_cells(found):
                cell = ui.element("span").classes(kind)
                cell.props["title"] = words
        self._pictures.clear()
        self._pictures.set_visibility(any(side.picture for side in (first, second)))
        with self._pictures:
            for side in (first, second):
                with ui.element().classes("side"):
                    show_picture(side)
        places = many(texts.changes, "place")
        self._changes.text = f"The {texts.compared} texts differ in {places}"
        self._texts.show(texts.rows)
        self._result.set_visibility(True)


def _sentence(found: Comparison, parameters: Parameters) -> str:
    least = parameters.min_similarity
    confirmed = (
        f", similarity {share(found.jaccard, least)} of the {least:g} needed"
        if parameters.verify
        else ""
    )
    near = "no distance" if found.distance is None else many(found.distance, "bit")
    reach = f"{near} of at most {parameters.max_distance}"
    band = "" if found.shares_band or not parameters.verify else ", no band of both is the same"
    sentence = f"{spaced(found.verdict).capitalize()}: {reach}{band}{confirmed}"
    reasons = found.reasons
    if reasons.difference and parameters.compare_names:
        sentence += f"; another {reasons.difference}"
    elif parameters.ignore_boilerplate and reasons.says_other(parameters):
        sentence += "; they say other things outside boilerplate"
    return sentence


def _notes(first: TextSide, second: TextSide, texts: PairTexts) -> list[str]:
    notes = []
    for name, one in (("First", first), ("Second", second)):
        if one.name:
            title = plain(one.title, 120) or "a page without a title"
            notes.append(f"{name}: {title} ({plain(content_words(one.content))}).")
            if not one.is_main:
                notes.append("Its main text may not stand for it, so only equality counts.")
    if texts.is_cut or max(len(first.text), len(second.text)) > MAX_CHARACTERS:
        notes.append(f"Compared up to {MAX_CHARACTERS:,} characters of each.")
    return notes
