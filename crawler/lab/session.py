"""Try other parameters on the pages of crawls, and return arrays and plain values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from crawler.lab.crawl_source import SourceError, open_sources
from crawler.lab.distance_evidence import weigh_jaccard, weigh_labels
from crawler.lab.judgement import (
    EXACT,
    Choice,
    Judgement,
    SweepLine,
    with_parts,
)
from crawler.lab.near_pairs import (
    EVERY_PAGE,
    Scatter,
    WeighedPairs,
    histogram,
    ranked_pairs,
    scatter,
    shown_pairs,
)
from crawler.lab.part_lists import PartLists
from crawler.lab.prepared import CrawlTexts, Key, Prepared, key_of
from crawler.pages.export import ALL
from neardup.evaluation.judging import bounds_of, judge_all
from neardup.evaluation.near_arrays import CANDIDATE, PAYLOAD, SAME_TEMPLATE
from neardup.evaluation.near_arrays import SIMHASH as SIMHASH_LAYER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from crawler.lab.crawl_source import LabPage, Sources
    from crawler.lab.distance_evidence import DistanceEvidence
    from crawler.lab.labels import Label
    from crawler.lab.near_pairs import ListFilter, NearestCounts, NearPair
    from crawler.lab.prepared import ReadBoilerplate, Texts, Watch
    from crawler.pages.export import PageSelection
    from neardup import Parameters

R = TypeVar("R")

_MAX_PREPARED = 3
_MAX_REMEMBERED = 8
"""The largest number of remembered answers; each takes some 16 bytes a page."""


class Session:
    """Pages of a crawl, and what a choice of parameters would do with them.

    What is slow is done once, by ``prepare``, and goes on where pages were added; then bounds are
    tried in milliseconds. One owner: neither threads nor processes may share it.

    Args:
        texts: Gives the texts of pages by their ids, in their order; None for one that is not held.
        running: The parameters that hold now; with their features the fingerprints of the pages
            were made.
        boilerplate: Opens the boilerplate of the pages' hosts as it is counted by now.
    """

    def __init__(self, texts: Texts, running: Parameters, boilerplate: ReadBoilerplate) -> None:
        self.running = running
        self._crawl_texts = CrawlTexts(texts, boilerplate)
        self._pages = self._crawl_texts.pages
        self._own_features = running.fingerprint_features
        self._prepared: dict[Key, Prepared] = {}
        self._parts: PartLists | None = None
        self._remembered: dict[tuple[object, ...], object] = {}

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def pages(self) -> Sequence[LabPage]:
        """All pages, in crawl order; a place is a place among them."""
        return self._pages.pages

    def extend(self, pages: Sequence[LabPage]) -> None:
        """Take more pages, in crawl order; what they repeat is found by the next ``prepare``."""
        self._pages.extend(pages)
        self._remembered.clear()

    def prepare(self, choice: Choice, watch: Watch | None = None) -> None:
        """Do what is slow: fingerprints of other features, near pairs and their similarities.

        Args:
            choice: The choice that is to be fast from now on.
            watch: Called with the share that is done, 0 to 1, and words for what is being done.
                What it raises ends the preparation; the next one goes on from there.
        """
        tell = watch or (lambda _share, _words: None)
        # What holds shorter texts too serves the others.
        keys = sorted(self._keys(choice), key=lambda key: key.min_words)
        for done, key in enumerate(keys):
            prepared = self._serving(key) or self._begin(key)
            # Used last comes last, so that the first to go was not used for longest.
            self._prepared[prepared.key] = self._prepared.pop(prepared.key)
            prepared.catch_up(_part_of(tell, done, len(keys)))
        if choice.parameters.drop_contained:
            self.look_for_parts(choice, tell)
        tell(1.0, "ready")

    def is_ready(self, choice: Choice) -> bool:
        """Whether nothing is left to prepare for a choice."""
        serving = [self._serving(key) for key in self._keys(choice)]
        if not all(one is not None and len(one) == len(self) for one in serving):
            return False
        return not choice.parameters.drop_contained or self.knows_parts(choice)

    def look_for_parts(self, choice: Choice, watch: Watch) -> None:
        """Find the pages that are parts of others; later judgements of such choices name them.

        Args:
            choice: The choice whose shingles count, and whether boilerplate does.
            watch: As for ``prepare``.
        """
        base = replace(self.running, drop_contained=False)
        wanted = replace(
            base,
            verify=True,
            verify_shingle_size=choice.parameters.verify_shingle_size,
            ignore_boilerplate=choice.parameters.ignore_boilerplate,
        )
        if self._parts is None or not self._parts.serves(wanted):
            self._parts = PartLists(self._crawl_texts, wanted)
        if len(self._parts) < len(self):
            kept = self.judge(Choice(base)).kept
            members = self._ready(key_of(Choice(base))).near().members
            self._parts.catch_up(members, kept, watch)
            self._remembered.clear()

    def knows_parts(self, choice: Choice) -> bool:
        """Whether it is known which pages are parts of others."""
        return self._parts_for(choice) is not None

    def _parts_for(self, choice: Choice) -> PartLists | None:
        """Return what is known of parts, of all pages and for a choice; None: not all is known."""
        found = self._parts
        if found is None or len(found) < len(self) or not found.serves(choice.parameters):
            return None
        return found

    def judge(self, choice: Choice) -> Judgement:
        """Return the judgement of a choice on each page, as a crawl of them would have made it.

        Complexity: O(pages + near pairs), once it is prepared.
        """
        return self._once(("judge", choice), choice, lambda: self._judge(choice))

    def stored(self) -> Judgement:
        """Return the judgement of the crawl, by the verdicts that it stored.

        After other parameters were chosen these are still those of the old ones.
        """
        pages = self._pages
        layer, distance = pages.layer.values.copy(), pages.distance.values
        layer[(layer == SIMHASH_LAYER) & (distance > self.running.max_distance)] = CANDIDATE
        kept = layer < PAYLOAD
        has_measures = ~kept | (layer == SAME_TEMPLATE)
        similarity = np.where(pages.stored.values < 0, np.nan, pages.stored.values)
        return Judgement(
            kept,
            pages.original.values.astype(np.int64),
            np.where(has_measures, distance, -1).astype(np.int16),
            similarity.astype(np.float32),
            layer,
            pages.resembles.values.astype(np.int64),
            pages.body_bytes.values,
        )

    def sweep(self, choices: Iterable[Choice]) -> list[SweepLine]:
        """Return a line for each choice; changes are told against ``stored``."""
        lines, stored = [], self.stored()
        for choice in choices:
            judgement = self.judge(choice)
            changes = judgement.changes_from(stored)
            lines.append(
                SweepLine(
                    choice=choice,
                    kept=judgement.kept_count,
                    dropped=judgement.dropped_count,
                    layers=judgement.counts(),
                    now_kept=len(changes.now_kept),
                    now_dropped=len(changes.now_dropped),
                )
            )
        return lines

    def histogram(self, choice: Choice) -> NearestCounts:
        """Return the distances from each distinct text to the nearest one, earlier or later.

        It counts texts with a fingerprint, by the features of the choice, whatever its method. From
        10,000 texts on it counts a sample.
        """
        what = ("histogram", key_of(choice), choice.parameters.min_words)
        return self._once(what, choice, lambda: histogram(self._judged(choice)))

    def scatter(self, choice: Choice, most: int = 3000) -> Scatter:
        """Return pairs of distinct texts within 8 bits, of each distance an even sample."""
        what = ("scatter", key_of(choice), choice.parameters.min_words, most)
        return self._once(what, choice, lambda: scatter(self._judged(choice), most))

    def pairs(
        self,
        choice: Choice,
        distances: Sequence[int],
        limit: int = 200,
        labels: Collection[Label] = (),
        search: ListFilter = EVERY_PAGE,
    ) -> list[NearPair]:
        """Return pairs of distinct texts, those first from which a label teaches most.

        Args:
            choice: The choice at whose bounds pairs teach most.
            distances: The distances of the pairs, each 0 to 8 bits.
            limit: The largest number of pairs to return.
            labels: The labels; pairs that have one come last.
            search: Each pair has one of these pages at least.
        """
        of, what = self._judged(choice), ("pairs", choice, tuple(distances))
        ranked = self._once(what, choice, lambda: ranked_pairs(of, choice, distances))
        return shown_pairs(ranked, choice, self._pages, _by_digests(labels), limit, search)

    def evidence(self, choice: Choice, labels: Collection[Label] = ()) -> DistanceEvidence:
        """Return precision and recall at each distance, from labels or else from Jaccard."""
        of, label_of = self._judged(choice), _by_digests(labels)
        if not label_of:
            return weigh_jaccard(of, choice)
        size = choice.parameters.verify_shingle_size
        numbers = self._pages.numbers
        return weigh_labels(
            of, choice, label_of, numbers, lambda texts: self._crawl_texts.sets(texts, size)
        )

    def _judge(self, choice: Choice) -> Judgement:
        parameters = choice.parameters
        bounds = bounds_of(parameters)
        if choice.method == EXACT:
            bounds = bounds._replace(max_distance=-1)
        near = self._ready(key_of(choice)).near()
        pairs = None
        if (parts := self._parts_for(choice)) is not None:
            pairs = parts.pairs(near.members)
            near = near._replace(containers=parts.containers(pairs))
        verdicts = judge_all(self._pages.judged(parameters.min_words), near, bounds)
        judgement = Judgement(*verdicts, self._pages.body_bytes.values)
        return judgement if pairs is None else with_parts(judgement, pairs, near.members.texts)

    def _judged(self, choice: Choice) -> WeighedPairs:
        if not self.is_ready(choice):
            self.prepare(choice)
        words = self._pages.columns().words
        near = self._ready(key_of(choice)).near()
        is_long = words >= choice.parameters.min_words
        return WeighedPairs(near, (near.members.items >= 0) & is_long)

    def _once(self, what: tuple[object, ...], choice: Choice, make: Callable[[], R]) -> R:
        """Return the result that was made before of the same pages, or make it."""
        if not self.is_ready(choice):
            self.prepare(choice)
        remembered = self._remembered
        # Used last comes last, so that the first to go was not used for longest.
        remembered[what] = remembered.pop(what) if what in remembered else make()
        if len(remembered) > _MAX_REMEMBERED:
            del remembered[next(iter(remembered))]
        return cast("R", remembered[what])

    def _keys(self, choice: Choice) -> list[Key]:
        """Return the keys that the choice and comparing with the running parameters need."""
        return list(dict.fromkeys((key_of(Choice(self.running)), key_of(choice))))

    def _serving(self, key: Key) -> Prepared | None:
        return next((one for one in self._prepared.values() if one.key.serves(key)), None)

    def _ready(self, key: Key) -> Prepared:
        prepared = self._serving(key)
        assert prepared is not None  # was prepared right before
        return prepared

    def _begin(self, key: Key) -> Prepared:
        """Make lists of a kind; those that it serves too, and of many the oldest, go."""
        for other in [other for other in self._prepared if key.serves(other)]:
            del self._prepared[other]
        while len(self._prepared) >= _MAX_PREPARED:
            del self._prepared[next(iter(self._prepared))]
        self._prepared[key] = made = Prepared(key, self._crawl_texts, self._own_features)
        return made


def _part_of(watch: Watch, done: int, steps: int) -> Watch:
    return lambda share, words: watch((done + share) / steps, words)


def _by_digests(labels: Collection[Label]) -> dict[frozenset[bytes], bool]:
    return {frozenset((one.first, one.second)): one.is_duplicate for one in labels}


_TRIES = 3


@dataclass(frozen=True)
class Loaded:
    """Sources that were read to their end, and the session that took their pages."""

    sources: Sources
    session: Session


def loaded(
    paths: Sequence[Path],
    watch: Watch,
    selection: PageSelection = ALL,
    made: Mapping[Path, Path] = MappingProxyType({}),
) -> Loaded:
    """Open crawl directories and read them.

    Args:
        paths: As ``open_sources`` takes them.
        watch: Called with the share that is done, 0 to 1, and words for what is being done.
        selection: The pages that are read.
        made: As ``open_sources`` takes it.

    Raises:
        SourceError: One cannot be read, or there is no page in any.
    """
    for last in (False,) * (_TRIES - 1) + (True,):
        sources = open_sources(paths, selection, made)
        session = _read(sources, watch, selection)
        # A crawl that fetches pages again replaced some of them meanwhile.
        if last or not sources.is_superseded():
            break
    return Loaded(sources, session)


def _read(sources: Sources, watch: Watch, selection: PageSelection) -> Session:
    session = Session(sources.texts, sources.parameters(), sources.boilerplate)
    while pages := sources.read_new():
        session.extend(pages)
        watch(sources.progress, f"{len(session):,} pages read")
    if not len(session):
        which = "page with a text" if selection == ALL else "chosen page with a text"
        raise SourceError(f"{sources.name}: no {which} in it")
    return session
