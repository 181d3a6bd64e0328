"""What is said where no browser can be had, and what killed crawls leave."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import pytest

from crawler.rendering import browser
from crawler.rendering.browser import Browser, TemporaryFolder
from crawler.rendering.rendered_pages import NoBrowserError, RenderOptions
from neardup.installing import install_command
from tests.crawler.rendering.pages import own_browsers


def start_and_end(options: RenderOptions) -> None:
    async def started() -> None:
        browser = Browser(options)
        await browser.start()
        await browser.close()

    asyncio.run(started())


def message(options: RenderOptions) -> str:
    with pytest.raises(NoBrowserError) as raised:
        start_and_end(options)
    assert len(str(raised.value).splitlines()) == 1
    return str(raised.value)


def test_a_browser_that_is_not_there_is_named(tmp_path: Path) -> None:
    said = message(RenderOptions(browser_path=str(tmp_path / "none")))
    assert "none is no program" in said
    assert "CRAWL_RENDER_BROWSER" in said


def test_without_playwright_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright", None)
    assert install_command("render") in message(RenderOptions())


@pytest.mark.slow
@pytest.mark.usefixtures("rendering_browser")
def test_a_program_that_is_no_browser_is_named(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    wrong.chmod(0o755)
    said = message(RenderOptions(browser_path=str(wrong)))
    assert f"the browser {wrong} does not start" in said
    assert "playwright install chromium" in said


@pytest.mark.slow
@pytest.mark.usefixtures("rendering_browser")
def test_where_no_browser_is_installed_the_commands_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    said = message(RenderOptions())
    assert "apt install chromium-headless-shell, or: playwright install chromium" in said


@pytest.mark.slow
@pytest.mark.usefixtures("rendering_browser")
def test_a_browser_that_works_is_started_and_ended() -> None:
    start_and_end(RenderOptions())
    assert not own_browsers()


def test_folders_of_killed_crawls_are_removed_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "temporary_root", lambda: tmp_path)
    living = TemporaryFolder()
    left = Path(tempfile.mkdtemp(prefix="crawl-render-", dir=tmp_path))
    (left / "lock").touch()
    (left / "playwright-artifacts-x").mkdir()
    unlocked = tmp_path / "crawl-render-being-made"
    unlocked.mkdir()
    other = TemporaryFolder()
    assert set(tmp_path.iterdir()) == {living.path, other.path, unlocked}
    living.remove()
    other.remove()
    assert set(tmp_path.iterdir()) == {unlocked}


def test_a_temporary_folder_with_a_long_path_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("long" * 20)))
    assert len(os.fsencode(browser.temporary_root())) < 40
