"""A served site is recorded, and the file is crawled without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rules_peers.recordings import read_recording
from rules_peers.runs import record
from rules_peers.simulated_crawl import simulate
from rules_peers.sites import Served

from tests.sites.dynamic import RULED, DynamicSite
from tests.sites.graph import GraphSite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_a_recording_has_what_the_site_served(tmp_path: Path) -> None:
    links = {
        "/": ["/a", "/b/1", "/moved", "/missing", "http://other.test/"],
        "/a": ["/", "/b/2"],
        "/b/1": ["/c"],
        "/b/2": ["/c"],
        "/c": [],
        "/moved": [">/c"],
    }
    file = tmp_path / "graph.jsonl.gz"
    with GraphSite(links, texts={"/b/2": "/b/1"}) as site:
        record(Served("graph", f"{site.origin}/"), 100, file)
        origin = site.origin
    recording = read_recording(file)
    assert (recording.site, recording.seeds) == ("graph", [f"{origin}/"])
    found = {page.url.removeprefix(origin): page for page in recording.pages}
    assert set(found) == {"/", "/a", "/b/1", "/b/2", "/c"}
    home = [link.removeprefix(origin) for link in found["/"].links]
    assert home == ["/a", "/b/1", "/moved", "/missing"]
    assert found["/b/1"].digest == found["/b/2"].digest
    assert len(recording.truth) == 4
    moved = recording.answer(f"{origin}/moved")
    assert moved is None or moved.content == found["/c"].digest
    assert recording.answer(f"{origin}/missing") is None


def test_a_crawl_of_a_recording_finds_what_the_crawl_of_the_site_found(tmp_path: Path) -> None:
    file = tmp_path / "ruled.jsonl.gz"
    with DynamicSite(RULED) as site:
        recorded = record(Served("ruled", site.url, site), 2_000, file)
        assert not site.lost()
    recording = read_recording(file)
    assert recording.truth == recorded.truth
    assert len(recording.truth) >= len(site.truth)
    simulated = simulate(recording, 2_000)
    assert not simulated.lost
    assert len(simulated.names) <= len(recording.pages)
    assert None not in simulated.names
