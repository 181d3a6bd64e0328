"""Two texts under every measure that there is, and what would be said of the second."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from crawler.lab.part_lists import PairReasons, TextBoilerplate, pair_reasons
from neardup import Deduplicator, Features, analyse, diff, minhash, similarity
from neardup.comparison.diff import edit_ratio
from neardup.errors import DocumentError, FingerprintError
from neardup.fingerprints.minhash import unpacked_signature
from neardup.indexes.banding import CANDIDATE_BANDING
from neardup.names import NO_NAME, Name, difference, unpacked
from neardup.parameters import DEFAULTS
from neardup.verification import JaccardVerifier, compared_with, containment, split
from neardup.whole import part_of, readable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.lab.crawl_source import Blocks, LabPage
    from crawler.lab.near_pairs import NearPair
    from crawler.lab.session import Loaded
    from neardup import Document, Parameters
    from neardup.boilerplate import Boilerplate
    from neardup.comparison.diff import WordRun
    from neardup.fingerprints.minhash import Estimate

P = ParamSpec("P")
R = TypeVar("R")

DISTANCES = range(9)
"""The values of ``max_distance`` whose verdicts are shown."""

_BITS = 64


@dataclass(frozen=True, slots=True)
class Side:
    """The measures of one of the two texts.

    Attributes:
        words: The number of its tokens.
        digest: The digest of the text, 16 bytes.
        fingerprint: The fingerprint, by the features of the parameters; None for a text that has
            none of them.
        own: Shingles that the other text has not.
    """

    words: int
    digest: bytes
    fingerprint: int | None
    own: OwnShingles

    def to_dict(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "text_digest": self.digest.hex(),
            "fingerprint": None if self.fingerprint is None else f"{self.fingerprint:016x}",
            "shingles": self.own.of,
            "own_shingles": self.own.count,
            "own_shingles_first": list(self.own.first),
        }


@dataclass(frozen=True, slots=True)
class VerdictAt:
    """The verdict on the second text if the first had been kept.

    Attributes:
        max_distance: The largest distance of a match, in bits.
        confirmed: The verdict where similarity confirms matches and candidates.
        alone: The verdict where distance alone decides, by the same fingerprints.
    """

    max_distance: int
    confirmed: str
    alone: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every measure of two texts.

    Attributes:
        first: The text that came first.
        second: The text that is judged.
        is_equal: Whether their digests are the same.
        names: What the two are called.
        reasons: What speaks for and against one page besides the measures.
        shares_band: Whether the signatures of the texts share a band, so that each is a candidate
            of the other at any distance.
        features: The features of the fingerprints, as they are written.
        distance: Hamming, in bits; None where a text has no fingerprint.
        bits: The places that differ, 0 the least significant.
        jaccard: The exact similarity of word shingles; where a text stands with the whole that it
            was taken from, the least of both parts. All other measures are of the texts alone.
        shingle_size: The number of words in a shingle.
        estimate: The same similarity, estimated by MinHash; None where a text is without words.
        first_in_second: The share of the first text's shingles that the second has too.
        second_in_first: The share of the second text's shingles that the first has too.
        cosine: The cosine of counted words.
        log_cosine: The cosine of words that weigh 1 + ln(count).
        edit_ratio: The share of characters that stay; None for texts too long for it.
        verdict: The verdict on the second text by the parameters.
        verdicts: The verdicts by each ``max_distance``, with all else as in the parameters.
    """

    first: Side
    second: Side
    is_equal: bool
    names: tuple[Name, Name]
    reasons: PairReasons
    shares_band: bool
    features: str
    distance: int | None
    bits: tuple[int, ...]
    jaccard: float
    shingle_size: int
    estimate: Estimate | None
    first_in_second: float
    second_in_first: float
    cosine: float
    log_cosine: float
    edit_ratio: float | None
    verdict: str
    verdicts: tuple[VerdictAt, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dict that JSON can hold."""
        return {
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "equal": self.is_equal,
            "names": [asdict(name) for name in self.names],
            "names_differ_by": self.reasons.difference,
            "part": _part_dict(self.reasons),
            "rest_share": self.reasons.rest_share,
            "shares_band": self.shares_band,
            "features": self.features,
            "distance": self.distance,
            "differing_bits": list(self.bits),
            "jaccard": self.jaccard,
            "shingle_size": self.shingle_size,
            "jaccard_estimate": self.estimate and self.estimate.similarity,
            "jaccard_standard_error": self.estimate and self.estimate.standard_error,
            "containment": {
                "first_in_second": self.first_in_second,
                "second_in_first": self.second_in_first,
            },
            "cosine": self.cosine,
            "log_cosine": self.log_cosine,
            "edit_ratio": self.edit_ratio,
            "verdict": self.verdict,
            "verdicts": [asdict(at) for at in self.verdicts],
        }


def compare(
    first: str,
    second: str,
    parameters: Parameters = DEFAULTS,
    *,
    are_main: bool = True,
    names: tuple[Name, Name] = (NO_NAME, NO_NAME),
    blocks: tuple[Blocks, Blocks] = (None, None),
) -> Comparison:
    """Measure two texts.

    Args:
        first: The text that came first.
        second: The text that is judged against it.
        parameters: The parameters of the verdicts.
        are_main: False where a fingerprint may not stand for one of the texts, so that only
            equality counts, as for pages whose main text is not believed.
        names: What the two are called.
        blocks: The hashes of the blocks that are boilerplate where each of the two comes from.

    Complexity: O(length), but for the edit ratio, which of two texts of 100,000 characters takes
    half a second.
    """
    features = parameters.fingerprint_features
    size = parameters.verify_shingle_size
    shared = compared_with(JaccardVerifier(size), first, min_similarity=0)(second)
    reasons = pair_reasons((first, second), names, blocks, parameters)
    documents = [
        replace(analyse(text, replace(parameters, min_words=1), name), group=number)
        for number, (text, name) in enumerate(zip((first, second), names, strict=True))
    ]
    first, second = part_of(first), part_of(second)
    own = own_shingles(first, second, size)
    ours, theirs = (
        Side(one.words, one.digest, one.fingerprint, shingles)
        for one, shingles in zip(documents, own, strict=True)
    )
    bits = _differing(ours, theirs)
    shares_band = _share_band(documents[0], documents[1])
    if not are_main:
        documents = [
            replace(one, fingerprint=None, signature=None, sample=None) for one in documents
        ]
    is_known = any(one is not None for one in blocks)
    boilerplate = TextBoilerplate(blocks.__getitem__) if is_known else None
    judge = _Judge(documents[0], documents[1], boilerplate)
    return Comparison(
        first=ours,
        second=theirs,
        is_equal=ours.digest == theirs.digest,
        names=names,
        reasons=reasons,
        shares_band=shares_band,
        features=str(features),
        distance=None if bits is None else len(bits),
        bits=bits or (),
        jaccard=shared,
        shingle_size=size,
        estimate=_measured(_estimate, first, second, size),
        first_in_second=containment(first, second, shingle_size=size),
        second_in_first=containment(second, first, shingle_size=size),
        cosine=cosine(first, second, "count"),
        log_cosine=cosine(first, second, "log_count"),
        edit_ratio=_measured(edit_ratio, first, second),
        verdict=judge.verdict(parameters),
        verdicts=tuple(judge.at(bits, parameters) for bits in DISTANCES),
    )


def _part_dict(reasons: PairReasons) -> dict[str, Any] | None:
    part = reasons.part
    if part is None:
        return None
    return {"of": ("second", "first")[part.place], "containment": part.containment}


def cosine(first: str, second: str, weight: str) -> float:
    """Return the cosine of the vectors of two texts' words, 0 to 1.

    Args:
        first: A text.
        second: Another one.
        weight: The weight of a word, as in ``neardup.Features``: ``count``, ``log_count``, ``set``.
    """
    features = Features("word", 1, weight)
    ours, theirs = features.weighted(first), features.weighted(second)
    if not (len(ours.hashes) and len(theirs.hashes)):
        return float(len(ours.hashes) == len(theirs.hashes))
    _, at, to = np.intersect1d(ours.hashes, theirs.hashes, assume_unique=True, return_indices=True)
    squares = float(ours.weights @ ours.weights) * float(theirs.weights @ theirs.weights)
    return min(1.0, float(ours.weights[at] @ theirs.weights[to]) / float(np.sqrt(squares)))


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges the second of two analysed texts as a crawl does that has kept the first."""

    first: Document
    second: Document
    boilerplate: Boilerplate | None

    def at(self, bits: int, parameters: Parameters) -> VerdictAt:
        chosen = replace(parameters, features=parameters.fingerprint_features, max_distance=bits)
        confirmed = replace(chosen, verify=True)
        alone = replace(chosen, verify=False, drop_contained=False)
        return VerdictAt(bits, self.verdict(confirmed), self.verdict(alone))

    def verdict(self, parameters: Parameters) -> str:
        with Deduplicator(parameters, boilerplate=self.boilerplate) as judge:
            judge.add_document(0, self.first)
            return judge.judge_document(1, self.second).kind


def _measured(measure: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Return a measure of texts; None for those that have none, or are too long for it."""
    try:
        return measure(*args, **kwargs)
    except (DocumentError, FingerprintError):
        return None


def _share_band(first: Document, second: Document) -> bool:
    """Whether the signatures of two texts agree in all values of a band."""
    if first.signature is None or second.signature is None:
        return False
    ours, theirs = (
        unpacked_signature(one).reshape(CANDIDATE_BANDING)
        for one in (first.signature, second.signature)
    )
    return bool((ours == theirs).all(axis=1).any())


def _differing(first: Side, second: Side) -> tuple[int, ...] | None:
    if first.fingerprint is None or second.fingerprint is None:
        return None
    different = first.fingerprint ^ second.fingerprint
    return tuple(place for place in range(_BITS) if different >> place & 1)


def _estimate(first: str, second: str, size: int) -> Estimate:
    return similarity(minhash(first, shingle_size=size), minhash(second, shingle_size=size))


MAX_SHINGLES = 20
"""At most this many shingles of each text are named."""


@dataclass(frozen=True, slots=True)
class OwnShingles:
    """Distinct shingles that the other text has not.

    Attributes:
        count: The number of all of them.
        of: The number of distinct shingles of the text.
        first: The first of them as they stand in the folded text, at most ``MAX_SHINGLES``.
    """

    count: int
    of: int
    first: tuple[str, ...]


def own_shingles(first: str, second: str, size: int) -> tuple[OwnShingles, OwnShingles]:
    """Return the shingles of each text that the other one has not.

    As in ``neardup.jaccard``, a text of fewer words than ``size`` is one shingle.

    Complexity: O(words * size).
    """
    ours, theirs = _shingles(split(first), size), _shingles(split(second), size)
    return _own(ours, theirs), _own(theirs, ours)


def _shingles(words: Sequence[bytes], size: int) -> dict[tuple[bytes, ...], None]:
    if len(words) < size:
        return {tuple(words): None}
    return dict.fromkeys(zip(*(words[place:] for place in range(size)), strict=False))


def _own(ours: dict[tuple[bytes, ...], None], theirs: dict[tuple[bytes, ...], None]) -> OwnShingles:
    own = [shingle for shingle in ours if shingle not in theirs]
    shown = tuple(b" ".join(shingle).decode("utf-8", "replace") for shingle in own[:MAX_SHINGLES])
    return OwnShingles(len(own), len(ours), shown)


@dataclass(frozen=True, slots=True)
class PairDetails:
    """A pair with its pages and where their texts differ.

    Attributes:
        pair: As the session names it.
        first: The earlier page.
        second: The later page.
        own_of_first: Shingles that the first alone has; None where a text is not held.
        own_of_second: Shingles that the second alone has; None where a text is not held.
        runs: The diff; None where a text is not held.
    """

    pair: NearPair
    first: LabPage
    second: LabPage
    own_of_first: OwnShingles | None
    own_of_second: OwnShingles | None
    runs: tuple[WordRun, ...] | None

    @property
    def names_differ_by(self) -> str:
        """The reason why the names show different things; empty: they do not."""
        return difference(unpacked(self.second.name), unpacked(self.first.name))


def details_of(found: Loaded, pair: NearPair) -> PairDetails:
    """Read the texts of a pair and compare them.

    Raises:
        SourceError: They cannot be read.
    """
    first, second = (found.session.pages[place] for place in (pair.first, pair.second))
    one, other = found.sources.texts([first.id, second.id])
    if one is None or other is None:
        return PairDetails(pair, first, second, None, None, None)
    size = found.session.running.verify_shingle_size
    one, other = readable(one), readable(other)
    ours, theirs = own_shingles(one, other, size)
    return PairDetails(pair, first, second, ours, theirs, tuple(diff(one, other)))
