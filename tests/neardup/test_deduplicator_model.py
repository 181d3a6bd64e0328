"""The deduplicator against the plain rule: compare each text with every text that was kept."""

import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from neardup import Deduplicator, Document, Features, Parameters, Verdict, analyse, hamming, jaccard
from neardup.errors import DuplicateIdError
from neardup.fingerprints.digest import text_digest
from neardup.names import Name, unpacked
from neardup.parts import MIN_CONTAINMENT
from neardup.verification import containment
from tests.neardup.bands import is_candidate
from tests.neardup.text_strategies import near_texts, shuffled
from tests.neardup.texts import prose
from tests.neardup.verdicts import without_parts

pytestmark = pytest.mark.slow

PARAMETERS = st.builds(
    Parameters,
    features=st.sampled_from([None, Features(), Features("character", 3, "count")]),
    max_distance=st.sampled_from([0, 2, 3]),
    min_words=st.sampled_from([1, 30]),
    verify=st.booleans(),
    min_similarity=st.sampled_from([0.3, 0.6, 0.8]),
    verify_shingle_size=st.integers(1, 5),
    compare_names=st.sampled_from([True, True, False]),
)

NAMES = st.builds(
    Name,
    heading=st.sampled_from(["", "", "Widget", "Gadget"]),
    identifiers=st.sampled_from([(), ("sku:1",), ("sku:2",)]),
)


TEXTS = st.one_of(
    near_texts,
    st.builds(
        shuffled, st.builds(prose, st.just(0), st.sampled_from([60, 300])), st.integers(0, 15)
    ),
)


class Model:
    """Every kept document, compared one by one."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.kept: dict[int, Document] = {}

    def judge(self, number: int, text: str, name: Name, exclude: set[int]) -> Verdict:
        document = analyse(text, self.parameters, name)
        kind = "too_short" if document.fingerprint is None else "new"
        if number in self.kept or not text.strip():
            return Verdict(kind)
        others = [(other, kept) for other, kept in self.kept.items() if other not in exclude]
        for other, kept in others:
            if kept.digest == document.digest:
                return Verdict("text_duplicate", other, 0, 1.0, "text")
        near = [self._near(document, other, kept) for other, kept in others]
        found = [verdict for verdict in near if verdict is not None]
        same = [verdict for verdict in found if not self._is_other(name, verdict.duplicate_of)]
        nearest = min(same or found, key=lambda one: (one.distance, one.duplicate_of), default=None)
        if nearest is not None and same:
            return nearest
        self.kept[number] = document
        if nearest is None:
            return Verdict(kind)
        return Verdict(
            "same_template",
            distance=nearest.distance,
            similarity=nearest.similarity,
            resembles=nearest.duplicate_of,
        )

    def _is_other(self, name: Name, number: int | None) -> bool:
        if not self.parameters.compare_names or number is None:
            return False
        kept = unpacked(self.kept[number].name)
        shared = {*name.identifiers} & {*kept.identifiers}
        return bool(name.heading and kept.heading and name.heading != kept.heading) or bool(
            name.identifiers and kept.identifiers and not shared
        )

    def _near(self, document: Document, other: int, kept: Document) -> Verdict | None:
        if document.fingerprint is None or kept.fingerprint is None:
            return None
        if not is_candidate(document, kept, self.parameters):
            return None
        distance = hamming(document.fingerprint, kept.fingerprint)
        size = self.parameters.verify_shingle_size
        similarity = jaccard(document.text, kept.text, shingle_size=size)
        near = distance <= self.parameters.max_distance
        if not self.parameters.verify:
            return Verdict("near_duplicate", other, distance, tier="simhash") if near else None
        if similarity < self.parameters.min_similarity:
            return None
        tier = "simhash" if near else "candidate"
        return Verdict("near_duplicate", other, distance, similarity, tier)


class DeduplicatorMachine(RuleBasedStateMachine):
    """One in memory and one in a directory that is closed and opened at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(tempfile.mkdtemp())

    @initialize(parameters=PARAMETERS)
    def start(self, parameters: Parameters) -> None:
        self.model = Model(parameters)
        self.memory = Deduplicator(parameters)
        self.directory = Deduplicator(parameters, self.path)
        self.texts: dict[int, str] = {}
        self.names: dict[int, Name] = {}

    @rule(text=TEXTS, name=NAMES, number=st.integers(0, 60), source=st.randoms())
    def judge(self, text: str, name: Name, number: int, source: random.Random) -> None:
        # An id stands for one text of one name.
        text, name = self.texts.setdefault(number, text), self.names.setdefault(number, name)
        exclude = {other for other in self.texts if source.random() < 0.2}
        expected = self.model.judge(number, text, name, exclude)
        for deduplicator in (self.memory, self.directory):
            verdict = deduplicator.judge(number, text, name=name, exclude=exclude)
            assert without_parts(verdict) == expected
            if verdict.part_of is not None:
                assert verdict.part_of in self.model.kept.keys() - exclude - {number}
                size = self.model.parameters.verify_shingle_size
                shared = containment(text, self.texts[verdict.part_of], shingle_size=size)
                assert verdict.containment == shared >= MIN_CONTAINMENT
        if expected.is_duplicate:
            assert expected.duplicate_of in self.model.kept.keys() - exclude - {number}

    @rule(text=TEXTS, number=st.integers(0, 60))
    def judge_under_a_used_id(self, text: str, number: int) -> None:
        used = self.texts.get(number)
        if used is not None and text_digest(used) != text_digest(text):
            for deduplicator in (self.memory, self.directory):
                with pytest.raises(DuplicateIdError, match="give each text its id"):
                    deduplicator.judge(number, text)
                with pytest.raises(DuplicateIdError, match="give each text its id"):
                    deduplicator.judge(number, text, payload=b"bytes of another text")

    @rule()
    def flush(self) -> None:
        self.directory.flush()

    @rule()
    def open_again(self) -> None:
        self.directory.close()
        self.directory = Deduplicator(self.model.parameters, self.path)

    @rule()
    def lose_the_index(self) -> None:
        self.directory.close()
        shutil.rmtree(self.path / "index")
        self.directory = Deduplicator(self.model.parameters, self.path)

    @invariant()
    def check(self) -> None:
        if not hasattr(self, "model"):
            return
        stored = sum(kept.fingerprint is not None for kept in self.model.kept.values())
        assert len(self.memory) == len(self.directory) == stored

    def teardown(self) -> None:
        if hasattr(self, "directory"):
            self.directory.close()
        shutil.rmtree(self.path)


DeduplicatorMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None
)
TestDeduplicatorProperties = DeduplicatorMachine.TestCase
