"""What other parameters would do with the pages of a crawl: arrays and plain values out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawler.lab.choice import EXACT, MINHASH, Choice
from crawler.lab.clusters import ClusterMember, LabCluster
from crawler.lab.evidence import (
    JACCARD,
    LABELS,
    Evidence,
    lines_by_distance,
    lines_by_similarity,
    suggest_from_jaccard,
    suggest_from_labels,
)
from crawler.lab.figures import Histogram, Scatter, SweepLine
from crawler.lab.judgement import LAYERS, Judgement
from crawler.lab.near_pair import NearPair
from neardup import Parameters, hamming, jaccard, near_pairs, simhash
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from crawler.lab.near_pair import LabelLike
    from crawler.lab.page import LabPage

    Watch = Callable[[float, str], None]


class Session:
    """Pages of a crawl, and what a choice of parameters would do with them.

    Args:
        texts: Gives the texts of pages by their ids; None for one that is not held.
        running: The parameters that the pages' fingerprints were made with.
    """

    def __init__(
        self,
        texts: Callable[[Sequence[int]], Iterator[str | None]],
        running: Parameters = DEFAULTS,
    ) -> None:
        self._texts = texts
        self.running = running
        self.pages: list[LabPage] = []
        self._held: dict[int, str | None] = {}
        self._shared: dict[tuple[int, int], float] = {}

    def __len__(self) -> int:
        return len(self.pages)

    def extend(self, pages: Sequence[LabPage]) -> None:
        """Take more pages, in crawl order."""
        self.pages.extend(pages)

    def prepare(self, choice: Choice, watch: Watch | None = None) -> None:
        """Do what is slow, once."""
        self._pairs(choice)
        if watch is not None:
            watch(1.0, "ready")

    def is_ready(self, choice: Choice) -> bool:
        """Whether judging is fast."""
        return len(self._held) == len(self.pages)

    def judge(self, choice: Choice) -> Judgement:
        """Return what a choice does with each page."""
        near: dict[int, list[tuple[int, int]]] = {}
        for earlier, later, distance in self._pairs(choice):
            near.setdefault(later, []).append((distance, earlier))
        count, parameters = len(self.pages), choice.parameters
        kept, original = np.zeros(count, np.bool_), np.full(count, -1, np.int64)
        distances = np.full(count, -1, np.int16)
        similarity, layer = np.full(count, np.nan, np.float32), np.zeros(count, np.uint8)
        payloads: dict[bytes, int] = {}
        digests: dict[bytes, int] = {}
        for place, page in enumerate(self.pages):
            payload = None if page.payload_digest is None else payloads.get(page.payload_digest)
            equal = digests.get(page.text_digest) if page.words else None
            repeated, found = payload if payload is not None else equal, (0, 1.0)
            name = "payload" if payload is not None else "text"
            if page.verdict == "changed":
                repeated, name = None, "changed"
            elif repeated is None:
                name = "new" if page.words >= parameters.min_words else "too_short"
                for bits, earlier in sorted(near.get(place, ())):
                    if not kept[earlier]:
                        continue
                    shared = self._similarity(earlier, place)
                    is_near = choice.method == MINHASH or bits <= parameters.radius
                    if is_near and (not parameters.verify or shared >= parameters.min_similarity):
                        is_match = bits <= parameters.max_distance
                        repeated, found = earlier, (bits, shared)
                        name = "simhash" if is_match else "candidate"
                        break
            layer[place] = LAYERS.index(name)
            if repeated is None:
                kept[place] = True
                digests.setdefault(page.text_digest, place)
                if page.payload_digest is not None:
                    payloads.setdefault(page.payload_digest, place)
            else:
                original[place] = repeated
                distances[place], similarity[place] = found
        bodies = np.array([page.body_bytes for page in self.pages], np.int64)
        return Judgement(kept, original, distances, similarity, layer, bodies)

    def sweep(self, choice: Choice, distances: Sequence[int] = range(9)) -> list[SweepLine]:
        """Return a line for each ``max_distance``: ``choice.within(distance)``."""
        running = self.judge(Choice(self.running))
        pairs = self._pairs(choice)
        least = choice.parameters.min_similarity
        similar = [self._similarity(first, second) >= least for first, second, _ in pairs]
        lines = []
        for bits in distances:
            tried = choice.within(bits)
            judged = self.judge(tried)
            changes = judged.changes_from(running)
            found = [
                is_similar
                for pair, is_similar in zip(pairs, similar, strict=True)
                if pair[2] <= bits
            ]
            lines.append(
                SweepLine(
                    max_distance=bits,
                    choice=tried,
                    kept=judged.kept_count,
                    dropped=judged.dropped_count,
                    layers=judged.counts(),
                    now_kept=len(changes.now_kept),
                    now_dropped=len(changes.now_dropped),
                    precision=sum(found) / len(found) if found else None,
                    recall=sum(found) / sum(similar) if sum(similar) else None,
                )
            )
        return lines

    def histogram(self, choice: Choice) -> Histogram:
        """Return how far it is from each distinct text to the nearest."""
        prints = list(self._fingerprints(choice).values())
        counts = np.zeros(65, np.int64)
        for place, value in enumerate(prints):
            others = prints[:place] + prints[place + 1 :]
            if others:
                counts[min(hamming(value, other) for other in others)] += 1
        return Histogram(counts, int(counts.sum()), sampled=False)

    def scatter(self, choice: Choice, most: int = 3000) -> Scatter:
        """Return pairs of texts, a fair sample of each distance."""
        pairs = self._pairs(choice)
        chosen = pairs[:most]
        return Scatter(
            np.array([bits for _, _, bits in chosen], np.uint8),
            np.array([self._similarity(a, b) for a, b, _ in chosen], np.float32),
            np.array([earlier for earlier, _, _ in chosen], np.int64),
            np.array([later for _, later, _ in chosen], np.int64),
            len(pairs),
        )

    def pairs(
        self,
        choice: Choice,
        distances: Sequence[int],
        limit: int = 200,
        offset: int = 0,
        labels: Collection[LabelLike] = (),
    ) -> list[NearPair]:
        """Return pairs at some distances, those first from which a label teaches most."""
        said = {frozenset((one.first, one.second)): one.is_duplicate for one in labels}
        least = choice.parameters.min_similarity
        found = []
        for first, second, bits in self._pairs(choice):
            if bits not in distances:
                continue
            digests = frozenset(self.pages[place].text_digest for place in (first, second))
            shared = self._similarity(first, second)
            why = f"{bits} bits, similarity {shared:.2f}, {least:g} is asked for"
            found.append(NearPair(first, second, bits, shared, said.get(digests), why))
        found.sort(key=lambda pair: (pair.label is not None, abs((pair.similarity or 0) - least)))
        return found[offset : offset + limit]

    def evidence(self, choice: Choice, labels: Collection[LabelLike] = ()) -> Evidence:
        """Return precision and recall at each distance, from labels or else from Jaccard."""
        least = choice.parameters.min_similarity
        said = {frozenset((one.first, one.second)): one.is_duplicate for one in labels}
        rows = []
        for first, second, bits in self._pairs(choice):
            digests = frozenset(self.pages[place].text_digest for place in (first, second))
            shared = self._similarity(first, second)
            if not said:
                rows.append((bits, shared, shared >= least))
            elif digests in said:
                rows.append((bits, shared, said[digests]))
        distances = np.array([row[0] for row in rows], np.uint8)
        similar = np.array([row[1] for row in rows], np.float64)
        right = np.array([row[2] for row in rows], np.bool_)
        lines = lines_by_distance(distances, right)
        suggestion, reason = (
            suggest_from_labels(lines) if said else suggest_from_jaccard(lines, least)
        )
        within = distances <= choice.parameters.radius
        return Evidence(
            basis=LABELS if said else JACCARD,
            pairs=len(rows),
            duplicates=int(right.sum()),
            beyond=max(0, len(said) - len(rows)),
            population="pairs of distinct texts within 8 bits",
            by_distance=lines,
            by_similarity=lines_by_similarity(similar[within], right[within]) if said else (),
            suggestion=suggestion,
            reason=reason,
        )

    def clusters(self, judgement: Judgement, limit: int = 50) -> list[LabCluster]:
        """Return the largest clusters first, with why each member is in it."""
        groups: dict[int, list[int]] = {}
        for place in np.flatnonzero(~judgement.kept).tolist():
            groups.setdefault(int(judgement.original[place]), []).append(place)
        largest = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
        return [
            LabCluster(first, len(places) + 1, tuple(_member(judgement, one) for one in places))
            for first, places in largest[:limit]
        ]

    def _text(self, place: int) -> str | None:
        if place not in self._held:
            (self._held[place],) = self._texts([self.pages[place].id])
        return self._held[place]

    def _fingerprints(self, choice: Choice) -> dict[int, int]:
        if choice.method == EXACT:
            return {}
        parameters, prints = choice.parameters, {}
        same = parameters.fingerprint_features == self.running.fingerprint_features
        seen = set()
        for place, page in enumerate(self.pages):
            if not page.is_main or page.words < parameters.min_words or page.text_digest in seen:
                continue
            seen.add(page.text_digest)
            if same and page.fingerprint is not None:
                prints[place] = page.fingerprint
                continue
            text = self._text(place)
            if text is not None:
                prints[place] = simhash(text, parameters.fingerprint_features)
        return prints

    def _pairs(self, choice: Choice) -> list[tuple[int, int, int]]:
        prints = self._fingerprints(choice)
        places = list(prints)
        found = near_pairs(prints, 8)
        return [
            (places[earlier], places[later], distance)
            for later, earlier, distance in zip(
                found.later.tolist(), found.earlier.tolist(), found.distances.tolist(), strict=True
            )
        ]

    def _similarity(self, first: int, second: int) -> float:
        pair = first, second
        if pair not in self._shared:
            one, other = self._text(first), self._text(second)
            known = one is not None and other is not None
            self._shared[pair] = jaccard(one or "", other or "") if known else float("nan")
        return self._shared[pair]


def _member(judgement: Judgement, place: int) -> ClusterMember:
    layer = LAYERS[judgement.layer[place]]
    bits, shared = int(judgement.distance[place]), float(judgement.similarity[place])
    similarity = None if np.isnan(shared) else shared
    if layer in {"payload", "text"}:
        why = "the same bytes" if layer == "payload" else "the same words"
    else:
        why = f"{bits} bits" + ("" if similarity is None else f", similarity {similarity:.2f}")
    return ClusterMember(place, layer, bits, similarity, why)
