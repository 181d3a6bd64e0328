"""The tab Pairs: one pair after the other, to be read and labelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.controls import DistanceRange
from crawler.lab.app.elements import button, plain
from crawler.lab.app.pair_view import PairView
from crawler.lab.app.parameter_trial import Answers
from crawler.lab.app.tables import DownloadButtons, SearchField
from crawler.lab.crawl_source import SourceError
from crawler.lab.labels import label_fields, label_of, pair_of, remove_label, store_labels
from crawler.lab.words import measures_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from nicegui.events import KeyEventArguments

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial
    from crawler.lab.labels import Label
    from crawler.lab.near_pairs import NearPair

AT_ONCE = 200
"""The number of pairs that are asked for at a time."""


@dataclass
class PairWalk:
    """Pairs in their order, one looked at after the other.

    Attributes:
        pairs: All pairs so far.
        at: The number of the pair that is looked at; 0 where there is none.
    """

    pairs: list[NearPair] = field(default_factory=list)
    at: int = 0

    @property
    def current(self) -> NearPair | None:
        """The pair that is looked at; None: there is none."""
        return self.pairs[self.at] if self.pairs else None

    @property
    def is_at_end(self) -> bool:
        """Whether no pair comes after this one."""
        return self.at >= len(self.pairs) - 1

    def begin(self, pairs: Iterable[NearPair], is_labelled: Callable[[NearPair], bool]) -> None:
        """Walk through other pairs, from the first one without a label."""
        self.pairs, self.at = list(pairs), 0
        if self.pairs and is_labelled(self.pairs[0]):
            self.go_on(is_labelled)

    def add(self, pairs: Iterable[NearPair]) -> int:
        """Append pairs that are not there yet; say how many."""
        known = {(pair.first, pair.second) for pair in self.pairs}
        new = [pair for pair in pairs if (pair.first, pair.second) not in known]
        self.pairs += new
        return len(new)

    def step(self, by: int) -> bool:
        """Go ``by`` pairs on, or back; say whether it is another one then."""
        before = self.at
        self.at = max(0, min(len(self.pairs) - 1, self.at + by))
        return self.at != before

    def go_on(self, is_labelled: Callable[[NearPair], bool]) -> bool:
        """Go to the next one without a label, round past the end; say whether there is one."""
        count = len(self.pairs)
        for step in range(1, count):
            place = (self.at + step) % count
            if not is_labelled(self.pairs[place]):
                self.at = place
                return True
        return False

    def go_to(self, first: int, second: int) -> bool:
        """Go to a pair by its places; say whether it is there."""
        for number, pair in enumerate(self.pairs):
            if (pair.first, pair.second) == (first, second):
                self.at = number
                return True
        return False


class WindowLabels:
    """Labels of one lab, and the order in which one window made some of them."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._made: list[NearPair] = []
        self._reading = lab.reading

    def of(self, pair: NearPair) -> Label | None:
        """Return the label of a pair; None: it has none."""
        return self._lab.labels.get(self._key(pair))

    def is_labelled(self, pair: NearPair) -> bool:
        """Whether a pair has a label."""
        return self.of(pair) is not None

    @property
    def last(self) -> NearPair | None:
        """The pair that this window labelled last; None where pages were read again since."""
        self._forget_places()
        while self._made and not self.is_labelled(self._made[-1]):
            self._made.pop()
        return self._made[-1] if self._made else None

    async def say(self, pair: NearPair, *, is_duplicate: bool) -> None:
        """Store a label, durably when this returns.

        Raises:
            SourceError: It cannot be stored.
        """
        pages = self._lab.session.pages
        label = label_of(pages[pair.first], pages[pair.second], is_duplicate=is_duplicate)
        await self._lab.run(store_labels, self._lab.sources.paths, [label])
        self._lab.labels[label.pair] = label
        self._forget_places()
        self._made.append(pair)

    async def take_back(self, pair: NearPair) -> None:
        """Remove the label of a pair.

        Raises:
            SourceError: It cannot be removed.
        """
        key = self._key(pair)
        await self._lab.run(remove_label, self._lab.sources.paths, *key)
        self._lab.labels.pop(key, None)

    def _forget_places(self) -> None:
        """Forget the labelled places after all pages were read again: they name other pages now."""
        if self._reading != self._lab.reading:
            self._reading = self._lab.reading
            self._made.clear()

    def _key(self, pair: NearPair) -> tuple[bytes, bytes]:
        pages = self._lab.session.pages
        return pair_of(pages[pair.first].text_digest, pages[pair.second].text_digest)


class PairsTab:
    """Walks through pairs; a label is stored at once, and the next unlabelled pair comes."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial
        self._labelling = WindowLabels(lab)
        self._walk = PairWalk()
        self._pages = self._reading = 0
        self._shown: NearPair | None = None
        self._is_busy = False
        with ui.element().classes("stack pairs").props("tabindex=-1") as self._whole:
            # The tab that was clicked on keeps the focus, and takes arrow keys for itself.
            self._whole.on(
                "vnodeMounted", js_handler="(node) => node.el.focus({preventScroll: true})"
            )
            # A button keeps the focus after it was clicked on; keys are to go on working then.
            ui.keyboard(self._pressed, ignore=["input", "select", "textarea"])
            self._answers = Answers(lab, trial, self._basis, self._answer)
            with ui.element().classes("line tools"):
                self._range = DistanceRange(self.refresh)
                with ui.element().classes("line deeds"):
                    self._buttons = [_button(*deed) for deed in self._deeds().values()]
                self._place = ui.label().classes("soft").props("data-place")
                ui.element().classes("spacer")
                self._field = SearchField(self.refresh)
                self._counter = ui.label().classes("soft").props("data-labelled")
                self._downloads = DownloadButtons("Labels:", "labels", self._labels)
            self._fault = ui.label().classes("fault").props("role=alert")
            with ui.element().classes("line measures") as self._measures:
                self._label = ui.label().classes("badge")
                self._numbers = ui.label().classes("numbers")
                self._why = ui.label().classes("soft")
            self._empty = ui.label("Looking for pairs.").classes("empty")
            self._view = PairView(lab)

    def _deeds(self) -> dict[str, tuple[str, str, Callable[[], Awaitable[None]]]]:
        """Return words, shown key and action by the key's name, as browsers have it."""
        return {
            "ArrowLeft": ("Back", "\u2190", self._back),
            "d": ("Duplicate", "D", lambda: self._say(is_duplicate=True)),
            "n": ("Different", "N", lambda: self._say(is_duplicate=False)),
            "u": ("Undo", "U", self._undo),
            "ArrowRight": ("Next", "\u2192", self._on),
        }

    def _pressed(self, event: KeyEventArguments) -> Awaitable[None] | None:
        with_others = event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta
        if not event.action.keydown or with_others:
            return None
        name = event.key.name if len(event.key.name) > 1 else event.key.name.lower()
        deeds = self._deeds()
        # Who holds a letter down has labelled one pair, not all of them.
        if name not in deeds or (event.action.repeat and len(name) == 1):
            return None
        return deeds[name][2]()

    async def refresh(self) -> None:
        """Look for pairs where others are meant now; new ones do not disturb a reader."""
        self._answers.wake()
        self._count()

    def _basis(self) -> tuple[object, ...]:
        return self._range.distances, self._field.search, self._counted()

    def _counted(self) -> int:
        """Return the number of pages among which pairs were looked for; new ones change nothing."""
        return self._pages if self._walk.pairs else len(self._lab.session)

    async def _answer(self) -> None:
        """Begin to walk through the pairs that are asked for."""
        pages, reading = self._counted(), self._lab.reading
        pairs = await self._find(AT_ONCE)
        self._pages, self._reading = pages, reading
        self._walk.begin(pairs, self._labelling.is_labelled)
        await self._show()

    async def _find(self, limit: int) -> list[NearPair]:
        labels = list(self._lab.labels.values())
        choice, distances = self._trial.choice, self._range.distances
        search = self._field.search
        return await self._lab.ask(
            choice,
            lambda session: session.pairs(choice, distances, limit, labels=labels, search=search),
        )

    async def _show(self) -> None:
        pair = self._walk.current
        self._count()
        self._measures.set_visibility(pair is not None)
        self._empty.set_visibility(pair is None)
        for one in self._buttons:
            one.set_enabled(pair is not None)
        if pair is None:
            self._shown = None
            self._view.clear()
            self._empty.text = self._why_empty()
            return
        self._show_label(pair)
        least = self._trial.choice.parameters.min_similarity
        self._numbers.text = measures_of(pair.distance, pair.similarity, min_similarity=least)
        self._why.text = plain(pair.why)
        await self._view.show(pair.first, pair.second, self._trial.choice.parameters)
        if pair == self._walk.current:
            self._shown = pair

    def _count(self) -> None:
        labels = self._lab.labels.values()
        duplicate = sum(label.is_duplicate for label in labels)
        self._counter.text = (
            f"{len(labels):,} labelled: {duplicate:,} duplicate, "
            f"{len(labels) - duplicate:,} different"
        )
        self._downloads.show(has_rows=bool(labels))
        count = len(self._walk.pairs)
        more = "+" if count and count % AT_ONCE == 0 else ""
        self._place.text = f"{self._walk.at + 1:,} of {count:,}{more}" if count else ""

    async def _labels(self) -> list[dict[str, str]]:
        """Return what as JSON lines is a file ``FILE.labels.jsonl``."""
        return [label_fields(label) for label in self._lab.labels.values()]

    def _show_label(self, pair: NearPair) -> None:
        label = self._labelling.of(pair)
        badge = "unlabelled" if label is None else label.name
        self._label.text = badge
        self._label.classes(remove="unlabelled duplicate different", add=badge)

    def _why_empty(self) -> str:
        distances = self._range.distances
        between = f"{distances[0]} to {distances[-1]} bits"
        if not self._pages:
            return "No pages yet."
        if self._field.search:
            return f"No page that you search for is in a pair {between} apart. Try other words."
        return f"No two texts lie {between} from each other. Try other distances."

    async def _back(self) -> None:
        if self._walk.step(-1):
            await self._show()

    async def _on(self) -> None:
        if self._walk.is_at_end and self._walk.pairs:
            await self._find_more()
        if self._walk.step(1):
            await self._show()

    async def _find_more(self) -> None:
        if len(self._walk.pairs) % AT_ONCE == 0:
            self._walk.add(await self._find(len(self._walk.pairs) + AT_ONCE))

    async def _say(self, *, is_duplicate: bool) -> None:
        """Label what is read, not what comes when a key is pressed once more."""
        pair = self._walk.current
        if pair is None or pair != self._shown or self._is_busy or self._is_of_others():
            return
        if await self._store(self._labelling.say(pair, is_duplicate=is_duplicate)):
            if self._walk.is_at_end:
                await self._find_more()
            self._walk.go_on(self._labelling.is_labelled)
            await self._show()

    async def _undo(self) -> None:
        """Take the label of this pair back; where it has none, the last one that was given."""
        pair = self._walk.current
        if pair is None or self._is_busy or self._is_of_others():
            return
        if not self._labelling.is_labelled(pair):
            pair = self._labelling.last
        if pair is not None and await self._store(self._labelling.take_back(pair)):
            self._walk.go_to(pair.first, pair.second)
            await self._show()

    def _is_of_others(self) -> bool:
        """Whether all pages were read again, so that places name others; then ask for new pairs."""
        if self._reading == self._lab.reading:
            return False
        self._answers.wake()
        return True

    async def _store(self, deed: Awaitable[None]) -> bool:
        """Write to the crawl; say whether it went well, and the reader why not."""
        self._is_busy = True
        self._fault.text = ""
        try:
            await deed
        except SourceError as error:
            self._fault.text = plain(str(error))
            return False
        finally:
            self._is_busy = False
        return True


def _button(words: str, key: str, deed: Callable[[], Awaitable[None]]) -> ui.button:
    made = button("", deed).props(f'aria-label="{words}" aria-keyshortcuts="{key}"')
    with made:
        ui.label(words)
        ui.label(key).classes("key")
    return made
