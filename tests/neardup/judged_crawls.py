"""Crawls, and the verdicts on them by ``neardup.cascade`` over evidence gathered by brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from neardup import Parameters, Verdict, analyse, hamming, jaccard
from neardup.cascade import Evidence, NearText, decide
from neardup.fingerprints.digest import payload_digest
from neardup.names import difference, unpacked
from tests.neardup.bands import is_candidate
from tests.neardup.evaluation.near import FEATURES
from tests.neardup.storage.redis.judges import Page
from tests.neardup.text_strategies import shuffled
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from neardup import Document

_MIN_WORDS = 20

parameters_of_verdicts = st.builds(
    lambda near, verify, least: Parameters(FEATURES, near, _MIN_WORDS, verify, least),
    st.integers(0, 8),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.6, 0.8, 1.0]),
)

# Few originals, and most texts equal to one of them, near it, or half alike.
_originals = st.builds(prose, st.integers(0, 2), st.sampled_from([12, 30, 60]))
_texts = st.one_of(
    _originals,
    _originals.map(str.upper),
    st.builds(changed, _originals, st.integers(0, 9), st.integers(1, 4)),
    st.builds(shuffled, _originals, st.integers(0, 9)),
)
_payloads = st.one_of(st.none(), st.integers(0, 9).map(lambda one: payload_digest(bytes([one]))))
_pages = st.builds(lambda text, payload: (text, payload), _texts, _payloads)
crawls = st.lists(_pages, min_size=2, max_size=25).map(
    lambda all_: [Page(number, *page) for number, page in enumerate(all_)]
)


def by_cascade(parameters: Parameters, crawl: list[Page]) -> list[Verdict]:
    """Decide on each page by all that was kept before it, compared one by one."""
    kept: dict[int, Document] = {}
    verdicts = []
    for page in crawl:
        document = replace(analyse(page.text, parameters, page.name), payload=page.payload)
        verdicts.append(decide(document.words, evidence_of(document, kept, parameters), parameters))
        if not verdicts[-1].is_duplicate:
            kept[page.number] = document
    return verdicts


def evidence_of(document: Document, kept: dict[int, Document], parameters: Parameters) -> Evidence:
    """Compare a document with all that are kept, in every way."""
    near = [
        NearText(
            number,
            hamming(document.fingerprint, other.fingerprint),
            jaccard(document.text, other.text),
            is_other=bool(difference(unpacked(document.name), unpacked(other.name))),
        )
        for number, other in kept.items()
        if document.fingerprint is not None
        and other.fingerprint is not None
        and is_candidate(document, other, parameters)
    ]
    same_bytes = (n for n, other in kept.items() if document.payload == other.payload is not None)
    equal = (number for number, other in kept.items() if document.digest == other.digest)
    in_order = sorted(near, key=lambda one: (one.distance, one.id))
    return Evidence(next(same_bytes, None), next(equal, None), in_order)


def is_same(one: Verdict, other: Verdict) -> bool:
    """Whether two verdicts are equal, their similarities as numbers of 32 bits."""
    if (one.similarity is None) != (other.similarity is None):
        return False
    close = math.isclose(one.similarity or 0.0, other.similarity or 0.0, rel_tol=1e-6)
    return close and replace(one, similarity=None) == replace(other, similarity=None)
