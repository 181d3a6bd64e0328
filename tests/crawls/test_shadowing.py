"""Python files of the working folder have the names of modules, and are never run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crawls.test_watch import let_a_day_pass
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(sys.executable).with_name("crawl-once")
MODULES = (
    "lxml", "redis", "numpy", "crawler", "neardup", "scrapy", "warcio", "socket", "signal", "json",
    "sitecustomize", "usercustomize", "multiprocessing", "pyarrow",
)  # fmt: skip
FAST = ("-s", "DOWNLOAD_DELAY=0", "-s", "READING_WORKERS=1")


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with ChangingSite(linked=("/0",)) as site:
        site.put("/0", prose("/0", 200))
        yield site


class Folder:
    """A folder of another, with modules that leave a mark when they are run."""

    def __init__(self, path: Path) -> None:
        self.path = path / "here"
        self.path.mkdir()
        self._mark = path / "ran"
        line = f"open({str(self._mark)!r}, 'a').write(__name__ + ' ')\n"
        for module in MODULES:
            package = self.path / module
            package.mkdir()
            (package / "__init__.py").write_text(line)

    def run(self, *words: str, environment: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            words,
            cwd=self.path,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert not self._mark.exists(), self._mark.read_text()
        return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_commands_and_their_processes_run_none(
    site: ChangingSite, folder: Folder, tmp_path: Path
) -> None:
    """A crawl with its workers, a watch with its crawl, and a temporary crawl of an archive."""
    once = str(PROGRAM)
    folder.run(once, "crawl", site.at("/"), "--into", "d", "--render", "no", "--warc", *FAST)
    folder.run(once, "report", "d")
    let_a_day_pass(folder.path / "d")
    folder.run(once, "watch", "--once", "--every", "1h", "d", *FAST)
    assert (folder.path / "d" / "watch.log").stat().st_size
    folder.run(once, "sweep", "d/warc")


def test_python_interface_runs_none_and_finds_what_its_program_finds(
    site: ChangingSite, folder: Folder, tmp_path: Path
) -> None:
    """Classes beside the program may be named, as in the program itself."""
    place = tmp_path / "programs"
    place.mkdir()
    (place / "own_parts.py").write_text(
        "class Part:\n    def process_item(self, item):\n        return item\n"
    )
    (place / "program.py").write_text(
        "import asyncio, crawler\n"
        "async def main():\n"
        f"    pages = crawler.crawl({site.at('/')!r}, settings={{'DOWNLOAD_DELAY': 0, "
        "'ITEM_PIPELINES': {'own_parts.Part': 1}})\n"
        "    print(len([page async for page in pages]))\n"
        "asyncio.run(main())\n"
    )
    assert int(folder.run(sys.executable, str(place / "program.py"))) >= 1


def test_corpus_runs_none(folder: Folder, tmp_path: Path) -> None:
    lines = tmp_path / "texts.jsonl"
    lines.write_text("".join(f'{{"id": "{n}", "text": "{prose(str(n), 50)}"}}\n' for n in range(9)))
    folder.run(sys.executable, "-P", "-m", "neardup", str(lines), str(tmp_path / "out"))


def test_scrapy_project_in_the_working_folder_is_the_users_own(
    site: ChangingSite, tmp_path: Path
) -> None:
    """``scrapy crawl`` reads its settings, and its reading workers run."""
    project = tmp_path / "project"
    (project / "own" / "spiders").mkdir(parents=True)
    (project / "scrapy.cfg").write_text("[settings]\ndefault = own.settings\n")
    (project / "own" / "__init__.py").write_text("")
    (project / "own" / "spiders" / "__init__.py").write_text("")
    (project / "own" / "settings.py").write_text(
        "ADDONS = {'crawler.addon.NearDuplicates': 300}\nSPIDER_MODULES = ['crawler.spiders']\n"
        "ITEM_PIPELINES = {'own.parts.Part': 1}\nDOWNLOAD_DELAY = 0\n"
    )
    (project / "own" / "parts.py").write_text(
        "class Part:\n"
        "    def process_item(self, item):\n"
        "        print('own')\n"
        "        return item\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site.at('/')}"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "own" in done.stdout
