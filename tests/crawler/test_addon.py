"""What the add-on leaves out of Scrapy, and what it lets be."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.addon import SWITCHES, NearDuplicates


@pytest.mark.parametrize("switch", SWITCHES)
def test_an_extension_is_left_out_only_where_it_is_off(switch: str) -> None:
    settings = Settings({name: name == switch for name in SWITCHES})
    NearDuplicates().update_settings(settings)
    stays = {path for path in SWITCHES.values() if path in settings["EXTENSIONS_BASE"]}
    assert stays == {SWITCHES[switch]}


def test_scrapys_settings_have_what_is_left_out() -> None:
    assert set(SWITCHES.values()) <= set(Settings()["EXTENSIONS_BASE"])
    assert all(switch in Settings() for switch in SWITCHES)
