"""Rules over random sites in any order of events: what a drained crawl promises."""

from __future__ import annotations

import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from crawler.storage.states import SKIPPED
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import DropArguments, ReplaceSegments, ReplaceValues
from crawler.url_rules.rule_store import forget_rule
from crawler.url_rules.url_groups import MAX_TRIES, UrlGroups
from tests.crawler.frontier.ruled import NAME, SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import argument

IDS, SIDS = 6, 4
HOST = Context(NAME)
TRUE = [
    (HOST, DropArguments(("sid",))),
    (HOST, ReplaceValues("sid", ("s1",), ("s2",))),
    (HOST, ReplaceSegments(False, 0, ("print", "page"), ("page",))),
]
WRONG = [
    (HOST, DropArguments(("id",))),
    (HOST, DropArguments(("id", "sid"))),
    (HOST, ReplaceValues("id", ("1",), ("2",))),
]
URLS = [
    f"{SOMEWHERE}{path}?id={number}&sid=s{sid}"
    for path in ("/page", "/print/page")
    for number in range(IDS)
    for sid in range(SIDS)
]


class RulesMachine(RuleBasedStateMachine):
    """Whatever is admitted, fetched, taken, forgotten and killed: no page is lost.

    Where only rules hold that are true, every page is fetched that any of its URLs gives. Where
    wrong ones were taken too, none of them holds that two fetched pages show to be wrong.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.patches = pytest.MonkeyPatch()
        self.patches.setattr("crawler.url_rules.admission.SLICE", 3)
        few_held = partial(UrlGroups, max_held=4)
        self.patches.setattr("crawler.url_rules.rule_state.UrlGroups", few_held)
        self.is_true = True

    @initialize(dead=st.sets(st.sampled_from(URLS), max_size=MAX_TRIES))
    def begin(self, dead: set[str]) -> None:
        self.dead = dead
        self.crawl = RuledCrawl(self.folder, self.site)

    def site(self, url: str) -> str | None:
        return None if url in self.dead else f"page {argument(url, 'id')}"

    @rule(urls=st.lists(st.sampled_from(URLS), min_size=1, max_size=9))
    def admit(self, urls: list[str]) -> None:
        self.crawl.admit_all(urls)

    @rule(url=st.sampled_from(URLS))
    def admit_fixed(self, url: str) -> None:
        self.crawl.admit(url, is_fixed=True)

    @rule(pages=st.integers(1, 9))
    def fetch(self, pages: int) -> None:
        for _ in range(pages):
            self.crawl.step()

    @rule(known=st.sampled_from(TRUE))
    def take_true(self, known: object) -> None:
        self.crawl.rules.take([known], "a file")  # type: ignore[list-item]

    @rule(wrong=st.sampled_from(WRONG))
    def take_wrong(self, wrong: object) -> None:
        self.crawl.rules.take([wrong], "a file")  # type: ignore[list-item]
        self.is_true = False

    @rule()
    def commit(self) -> None:
        self.crawl.database.commit()

    @rule()
    def kill(self) -> None:
        self.crawl.kill()

    @precondition(lambda self: any(self.crawl.rules.rules))
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from([known.id for known in self.crawl.rules.rules]))
        self.crawl.close()
        forget_rule(self.folder, number)
        self.crawl.open()

    def teardown(self) -> None:
        if hasattr(self, "crawl"):
            self.crawl.examine()
            self.crawl.rules.regroup_all()
            self.crawl.examine()
            self.check()
            self.crawl.close()
        self.patches.undo()
        shutil.rmtree(self.folder)

    def check(self) -> None:
        states = self.crawl.states()
        rules = {known.id for known in self.crawl.rules.rules}
        sql = "SELECT url, rule, group_digest FROM requests WHERE state = 4"
        for url, by, group in self.crawl.database.read(sql).fetchall():
            assert by in rules
            assert group == self.crawl.group(url)
        done: dict[bytes, list[str]] = {}
        for url, state in states.items():
            if state != SKIPPED:
                done.setdefault(self.crawl.group(url), []).append(url)
        for url, state in states.items():
            said = {self.site(other) for other in done.get(self.crawl.group(url), [])} - {None}
            assert state != SKIPPED or said, "skipped for nothing"
            assert len(said) <= 1, "a rule holds that two pages show to be wrong"
        if self.is_true:
            fetched = {self.site(url) for url, state in states.items() if state != SKIPPED}
            assert fetched >= {self.site(url) for url in states} - {None}


TestRulesMachine = RulesMachine.TestCase
TestRulesMachine.settings = settings(deadline=None, max_examples=60, stateful_step_count=25)
