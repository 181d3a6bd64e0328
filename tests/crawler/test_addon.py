"""What the add-on leaves out of Scrapy, and what it lets be."""

from __future__ import annotations

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings

from crawler.addon import SWITCHES, NearDuplicates
from crawler.job_registry import job_of


@pytest.mark.parametrize("switch", SWITCHES)
def test_an_extension_is_left_out_only_where_it_is_off(switch: str) -> None:
    settings = Settings({name: name == switch for name in SWITCHES})
    NearDuplicates().update_settings(settings)
    stays = {path for path in SWITCHES.values() if path in settings["EXTENSIONS_BASE"]}
    assert stays == {SWITCHES[switch]}


def test_scrapys_settings_have_what_is_left_out() -> None:
    assert set(SWITCHES.values()) <= set(Settings()["EXTENSIONS_BASE"])
    assert all(switch in Settings() for switch in SWITCHES)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NEARDUP_MAX_DISTNCE", "NEARDUP_MAX_DISTANCE"),
        ("CRAWL_LERN_URL_RULES", "CRAWL_LEARN_URL_RULES"),
        ("NEAR_DUP_MIN_WORDS", "NEARDUP_MIN_WORDS"),
    ],
)
def test_a_misspelt_setting_of_a_project_is_told(
    caplog: pytest.LogCaptureFixture, name: str, meant: str
) -> None:
    NearDuplicates().update_settings(Settings({name: 1}))
    assert f"unknown setting {name}; did you mean {meant}?" in caplog.messages


@pytest.mark.parametrize("name", ["CRAWL_MAX_PAGES", "PAGES_FOLDER", "SHOP_API_KEY"])
def test_a_setting_of_the_projects_own_is_not_told(
    caplog: pytest.LogCaptureFixture, name: str
) -> None:
    NearDuplicates().update_settings(Settings({name: 1}))
    assert caplog.messages == []


def test_what_a_project_lists_itself_judges_nothing_where_that_is_off() -> None:
    """Such as the pipeline, which stands in ITEM_PIPELINES to be given another order."""
    reactor = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
    crawler = Crawler(Spider, {"NEARDUP_ENABLED": False, "TWISTED_REACTOR": reactor})
    with pytest.raises(NotConfigured):
        job_of(crawler)
