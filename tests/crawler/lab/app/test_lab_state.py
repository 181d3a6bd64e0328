"""What all windows of a lab share."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from crawler.lab.app import lab_state
from crawler.lab.app.lab_state import Lab, StoppedError
from crawler.lab.app.pairs_tab import WindowLabels
from crawler.lab.app.parameter_trial import Trial
from crawler.lab.crawl_source import SourceError, open_sources
from crawler.lab.judgement import Choice
from crawler.lab.labels import label_of, remove_label, store_labels
from crawler.lab.near_pairs import NearPair
from neardup import Parameters
from tests.crawler.lab.crawls import make_text_crawl
from tests.crawler.pages.test_capture import html
from tests.crawler.pages.test_revisits import Visiting
from tests.sites.prose import prose
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator
    from pathlib import Path

COUNT = 6
PAGES = {f"/{name}": prose(name, 100) for name in "abc"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl of texts of which every second one repeats the one before it."""
    rows = ((f"http://a.example/{n}", prose(f"text {n // 2}", 100)) for n in range(COUNT))
    return make_text_crawl(tmp_path / "texts", rows)


class TestLab:
    def test_pages_are_read_judged_and_shown(self, folder: Path) -> None:
        async def use(lab: Lab) -> None:
            assert await lab.grow() == COUNT
            assert await lab.grow() == 0
            judged = await lab.judge(Choice())
            assert (judged.kept_count, judged.dropped_count) == (COUNT // 2, COUNT // 2)
            assert await lab.judge(Choice()) is judged
            sides = await lab.sides([0, 5])
            texts = [None if side is None else side.text for side in sides]
            assert texts == [prose("text 0", 100), prose("text 2", 100)]

        with closing(Lab([folder])) as lab:
            asyncio.run(use(lab))

    def test_nothing_is_begun_when_it_is_closed(self, folder: Path) -> None:
        lab = Lab([folder])
        lab.close()
        lab.close()
        for begun in (lab.grow, lambda: lab.judge(Choice()), lambda: lab.look(print)):
            with pytest.raises(StoppedError):
                asyncio.run(_awaited(begun()))

    def test_what_cannot_be_opened_says_why(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="no such directory"):
            Lab([tmp_path / "nowhere"])


class TestLabBesideOthers:
    """What other processes do while the lab is open."""

    @pytest.fixture
    def visiting(self, tmp_path: Path) -> Iterator[Visiting]:
        visiting = Visiting(tmp_path / "crawl")
        for path, text in PAGES.items():
            visiting.get(path, html(text))
        visiting.job.commit()
        yield visiting
        visiting.close()

    @staticmethod
    def again(visiting: Visiting) -> None:
        visiting.again()
        visiting.get("/a", html(prose("a, rewritten", 100)))
        visiting.job.commit()

    def test_pages_that_were_replaced_are_read_anew(
        self, visiting: Visiting, tmp_path: Path
    ) -> None:
        with closing(Lab([tmp_path / "crawl"])) as lab:
            grown(lab)
            before = lab.reading
            self.again(visiting)
            assert grown(lab) == len(PAGES)
            assert lab.reading != before
            assert not lab.is_outdated
            assert lab.session.pages[-1].url.endswith("/a")

    def test_what_took_long_to_prepare_is_not_thrown_away_at_once(
        self, visiting: Visiting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lab_state, "LITTLE_SECS", -1.0)
        monkeypatch.setattr(lab_state, "SHARE_OF_TIME", 1e9)
        with closing(Lab([tmp_path / "crawl"])) as lab:
            grown(lab)
            before = lab.session, [page.url for page in lab.session.pages]
            self.again(visiting)
            assert grown(lab) == 0
            assert lab.is_outdated
            assert (lab.session, [page.url for page in lab.session.pages]) == before
            monkeypatch.setattr(lab_state, "SHARE_OF_TIME", 0)
            assert grown(lab) == len(PAGES)
            assert not lab.is_outdated

    def test_where_it_cannot_be_read_anew_what_was_read_stays(
        self, visiting: Visiting, folder: Path, tmp_path: Path
    ) -> None:
        away = folder.with_suffix(".away")
        with closing(Lab([tmp_path / "crawl", folder])) as lab:
            grown(lab)
            session, texts = lab.session, asyncio.run(_awaited(lab.sides([0, 1])))
            self.again(visiting)
            folder.rename(away)
            with pytest.raises(SourceError, match="no such directory"):
                grown(lab)
            assert lab.session is session
            assert asyncio.run(_awaited(lab.sides([0, 1]))) == texts
            away.rename(folder)
            assert grown(lab) == len(PAGES) + COUNT

    def test_labels_of_other_processes_come_and_go(self, folder: Path) -> None:
        async def use(lab: Lab) -> None:
            async def has_labels(pairs: list[object]) -> bool:
                await lab.grow()
                return list(lab.labels) == pairs

            await lab.grow()
            first, second = lab.session.pages[0], lab.session.pages[2]
            label = label_of(first, second, is_duplicate=True)
            store_labels([folder], [label])
            await eventually(partial(has_labels, [label.pair]))
            remove_label([folder], *label.pair)
            await eventually(partial(has_labels, []))

        with closing(Lab([folder])) as lab:
            asyncio.run(use(lab))

    def test_of_several_sources_the_newest_label_counts(self, folder: Path, tmp_path: Path) -> None:
        other = shutil.copytree(folder, tmp_path / "other")
        pages = open_sources([folder]).read_new()
        old = label_of(pages[0], pages[2], is_duplicate=False)
        new = replace(old, is_duplicate=True, labelled_at=old.labelled_at + 1)
        store_labels([folder], [new])
        store_labels([other], [old])
        with closing(Lab([folder, other])) as lab:
            assert [one.is_duplicate for one in lab.labels.values()] == [True]

    def test_what_cannot_be_read_is_said_once(
        self, visiting: Visiting, folder: Path, tmp_path: Path
    ) -> None:
        with closing(Lab([tmp_path / "crawl", folder])) as lab:
            grown(lab)
            self.again(visiting)
            (folder / "crawl.db").unlink()
            asyncio.run(lab._grow_once())
            assert "no crawl in it" in str(lab.fault)
            growth = lab.growth
            asyncio.run(lab._grow_once())
            assert lab.growth == growth


class TestLabelling:
    def test_no_label_is_taken_back_by_places_that_name_other_pages(self, folder: Path) -> None:
        async def use(lab: Lab) -> None:
            await lab.grow()
            labelling = WindowLabels(lab)
            pair = NearPair(0, 2, 3, 0.8, None, "")
            await labelling.say(pair, is_duplicate=True)
            assert labelling.last == pair
            await lab.run(lab._open)
            await lab.grow()
            assert labelling.last is None

        with closing(Lab([folder])) as lab:
            asyncio.run(use(lab))


def grown(lab: Lab) -> int:
    return asyncio.run(_grown(lab))


async def _grown(lab: Lab) -> int:
    return await lab.grow()


async def _awaited(begun: Awaitable[object]) -> object:
    return await begun


class TestTrial:
    HELD = Parameters()
    OTHER = replace(HELD, max_distance=5)

    def trial(self) -> tuple[Trial, list[Choice]]:
        told: list[Choice] = []

        async def tell() -> None:
            told.append(trial.choice)

        trial = Trial(self.HELD, tell)
        return trial, told

    def test_who_tries_nothing_goes_with_what_holds(self) -> None:
        trial, told = self.trial()
        asyncio.run(trial.hold(self.OTHER))
        assert trial.is_what_holds
        assert told == [Choice(self.OTHER)]

    def test_who_tries_something_goes_on_trying_it(self) -> None:
        trial, _ = self.trial()
        tried = Choice(replace(self.HELD, min_words=10))

        async def use() -> None:
            await trial.set(tried)
            await trial.hold(self.OTHER)
            assert trial.choice == tried
            await trial.reset()

        asyncio.run(use())
        assert trial.choice == Choice(self.OTHER)

    def test_nobody_is_told_of_what_did_not_change(self) -> None:
        trial, told = self.trial()
        asyncio.run(trial.set(Choice(self.HELD)))
        asyncio.run(trial.hold(self.HELD))
        assert told == []
