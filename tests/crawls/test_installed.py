"""The installed program: of the wheel that is made of the sdist, used from an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from crawler.demo import DemoServer
from tests.crawls.command import PROJECT, TIMEOUT_SECS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of the last commit and of what changed since."""
    folder = tmp_path_factory.mktemp("built")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--sdist", "--outdir", str(folder), str(PROJECT)],
        capture_output=True, text=True, check=False, timeout=TIMEOUT_SECS,
    )  # fmt: skip
    if "No matching distribution" in done.stdout + done.stderr:
        pytest.skip("setuptools cannot be fetched, and nothing is built without it")
    assert done.returncode == 0, done.stdout + done.stderr
    (package,) = folder.glob("*.tar.gz")
    return package


def _without_the_checkout() -> dict[str, str]:
    """Return the variables of the tests, which may name the project's folder, without it."""
    named = {"PYTHONPATH", "SCRAPY_SETTINGS_MODULE"}
    return {name: value for name, value in os.environ.items() if name not in named}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment.

    What the project depends on comes from the environment of the tests, which a path file adds: its
    own path files, and so its copy of this project, are not read.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=TIMEOUT_SECS)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def pip(programs: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the ``pip`` of an environment, which sees some variables besides."""
    return subprocess.run(
        [str(programs / "pip"), words[0], "-q", "--no-deps", *words[1:]],
        env=_without_the_checkout() | variables,
        capture_output=True, text=True, check=False, timeout=2 * TIMEOUT_SECS,
    )  # fmt: skip


@pytest.fixture(scope="module")
def wheel(sdist: Path, programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the sdist, made without a compiler where one comes by pip."""
    folder = tmp_path_factory.mktemp("wheel")
    # Without a program on the path there is no compiler.
    (empty := folder / "programs").mkdir()
    words = ("wheel", "--wheel-dir", str(folder), str(sdist))
    done = pip(programs, *words, PATH=str(empty), CC="cc")
    if "No matching distribution found for ziglang" in done.stderr:
        done = pip(programs, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    (package,) = folder.glob("*.whl")
    return package


@pytest.fixture(scope="module")
def program(wheel: Path, programs: Path) -> Path:
    """The program of the wheel."""
    done = pip(programs, "install", str(wheel))
    assert done.returncode == 0, done.stdout + done.stderr
    return programs / "crawl-once"


def run(program: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *words],
        cwd=folder, env=_without_the_checkout(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=TIMEOUT_SECS,
    )  # fmt: skip


def test_a_wheel_has_two_names_at_its_top(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.partition("/")[0] for name in archive.namelist()}
        assert "crawler/settings/crawl.py" in archive.namelist()
    assert {name for name in top if not name.endswith(".dist-info")} == {"crawler", "neardup"}


def test_an_sdist_holds_the_profiles(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"crawler/settings/crawl.py", "crawler/settings/fleet.py"} <= names


def test_the_demo_runs_from_an_empty_folder(program: Path, tmp_path: Path) -> None:
    done = run(program, tmp_path, "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "planted duplicates found: 12 of 12" in done.stdout
    assert "Traceback" not in done.stderr
    report = run(program, tmp_path, "report", "crawls/demo")
    assert "73 kept" in report.stdout


def test_a_site_is_crawled_and_mirrored(program: Path, tmp_path: Path) -> None:
    with DemoServer() as site:
        done = run(program, tmp_path, site.url, "pages", "--max-pages", "20", "-o", "kept.jsonl")
        assert done.returncode == 0, done.stdout + done.stderr
        assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 20
        mirrored = run(program, tmp_path, "mirror", site.url, "copy")
    assert "88 pages" in mirrored.stdout or "open copy/index.html" in mirrored.stdout
    checked = run(program, tmp_path, "mirror", "check", "copy")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert run(program, tmp_path, "report", "copy").returncode == 0


def test_a_configuration_file_makes_a_crawl_and_its_visits(program: Path, tmp_path: Path) -> None:
    with DemoServer() as site:
        (tmp_path / "site.toml").write_text(f'url = "{site.url}"\nrevisit = "due"\n')
        visit = ("crawl", "--config", "site.toml", "visited")
        first = run(program, tmp_path, *visit)
        assert "73 kept" in first.stdout
        again = run(program, tmp_path, *visit)
    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert "visited (visiting again what is due: 0 of" in again.stdout
