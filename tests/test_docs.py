"""What the documentation names exists, and every setting is documented.

That docs/urls.md and the URL rules agree is held by tests/crawler/urls/test_docs.py.
"""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings
from scrapy.settings import default_settings as scrapys_settings
from scrapy.spiderloader import SpiderLoader

from crawler.frontier.redis.shared_frontier import FORMAT_VERSION
from crawler.options import PREFIXES, our_settings
from crawler.program import command_names, load_command, make_parser
from crawler.spiders.page_spider import PageSpider

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parents[1]
DOCUMENTS = [*sorted(PROJECT.glob("*.md")), *sorted((PROJECT / "docs").rglob("*.md"))]
# Variables of the environment, for the tests and the benchmarks.
NO_SETTINGS = {
    "SCRAPY_PROJECT",
    "NEARDUP_SITES",
    "REDIS_URL",
    "WARC_TOOLS",
    "REDIS_PASSWORD",
    "REDIS_PASSWORD_FILE",
    "SCRAPY_VERSIONS",
    "RULES_GIT_DIRECTORY",
    "RULES_SITE_SCRIPTS",
}

_IN_TICKS = re.compile(r"`([^`\n]+)`")
_SETTING = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b|(?<=-s )[A-Z_]+(?==)")
_COMMAND = re.compile(r"(?:^|[`$/ ])scrapy ([a-z]+)(?: ([a-z]+))?(.*)", re.MULTILINE)
_OWN_COMMAND = re.compile(r"(?:^|`)(?:\$ )?crawl-once ([^`\n]+)", re.MULTILINE)
_ARGUMENT = re.compile(r"-a (\w+)=")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PATH = re.compile(r"(?:\.\./)?[\w.-]+(?:/[\w.-]+)*/[\w-]+\.\w+")
_DOTTED = re.compile(r"(?:crawler|neardup|settings)(?:\.\w+)+")


def found(pattern: re.Pattern[str]) -> list[tuple[str, Any]]:
    """Every distinct match in every document, as (document, match or its groups)."""
    return sorted(
        {
            (str(document.relative_to(PROJECT)), match)
            for document in DOCUMENTS
            for match in pattern.findall(document.read_text(encoding="utf-8"))
        }
    )


def in_ticks(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """What stands between backticks and is of a certain shape as a whole."""
    return [(document, text) for document, text in found(_IN_TICKS) if pattern.fullmatch(text)]


def documented_settings() -> Iterator[tuple[str, str | None]]:
    """Name and docstring of each setting, in the order of the file."""
    source = (PROJECT / "crawler" / "default_settings.py").read_text(encoding="utf-8")
    body = ast.parse(source).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            assert isinstance(target, ast.Name)
            meaning = after.value if isinstance(after, ast.Expr) else None
            is_text = isinstance(meaning, ast.Constant) and isinstance(meaning.value, str)
            yield target.id, meaning.value if is_text else None  # type: ignore[union-attr]


class TestSettings:
    def test_documented_settings_are_all_there_are(self) -> None:
        assert {name for name, _ in documented_settings()} == set(our_settings())

    @pytest.mark.parametrize(("name", "meaning"), list(documented_settings()))
    def test_setting_has_a_prefix_of_ours_and_one_line_of_meaning(
        self, name: str, meaning: str | None
    ) -> None:
        assert name.startswith(PREFIXES)
        assert meaning
        assert "\n" not in meaning
        assert meaning.endswith(".")

    @pytest.mark.parametrize("name", our_settings())
    def test_setting_is_read_somewhere(self, name: str) -> None:
        files = (PROJECT / "crawler").rglob("*.py")
        assert any(f'"{name}"' in file.read_text(encoding="utf-8") for file in files)

    @pytest.mark.parametrize(("document", "name"), found(_SETTING))
    def test_setting_named_in_a_document_exists(self, document: str, name: str) -> None:
        assert name in our_settings() or name in NO_SETTINGS or hasattr(scrapys_settings, name)


@pytest.fixture(scope="module")
def commands() -> set[str]:
    """What ``scrapy`` lists in the project's folder."""
    listed = subprocess.run(
        [sys.executable, "-m", "scrapy"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout
    return set(re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE))


class TestCommands:
    @pytest.mark.parametrize(("document", "command"), found(_COMMAND))
    def test_command_exists(
        self, commands: set[str], document: str, command: tuple[str, str, str]
    ) -> None:
        name, word, rest = command
        assert name in commands
        if name == "crawl" and word:
            spider = SpiderLoader(Settings({"SPIDER_MODULES": ["crawler.spiders"]})).load(word)
            assert issubclass(spider, PageSpider)
            assert set(_ARGUMENT.findall(rest)) <= set(spider.arguments)

    @pytest.mark.parametrize(("document", "words"), found(_OWN_COMMAND))
    def test_command_line_of_our_program_is_understood(self, document: str, words: str) -> None:
        """Options of a whole line must exist; of one within a sentence, the command alone."""
        written = re.split("[#;]", words, maxsplit=1)[0].split()
        name = written[0] if "://" not in written[0] else "crawl"
        if not name.islower() or name == "document":
            pytest.skip("not a command line")
        assert name in command_names()
        command, written = load_command(name).meant(written[1:])
        known = make_parser(command)._option_string_actions
        options = [
            word.partition("=")[0] for word in written if word.startswith("-") and word != "-"
        ]
        assert [option for option in options if option not in known] == []


class TestLinks:
    @pytest.mark.parametrize(("document", "link"), found(_LINK))
    def test_link_leads_to_a_file(self, document: str, link: str) -> None:
        if "://" in link:
            pytest.skip("not ours")
        path, _, section = link.partition("#")
        target = (PROJECT / document).parent / path if path else PROJECT / document
        assert target.exists()
        if section:
            assert section in sections(target)

    @pytest.mark.parametrize(("document", "path"), in_ticks(_PATH))
    def test_file_named_in_a_document_exists(self, document: str, path: str) -> None:
        assert (PROJECT / path).exists()

    @pytest.mark.parametrize(("document", "name"), in_ticks(_DOTTED))
    def test_name_can_be_imported(self, document: str, name: str) -> None:
        assert pkgutil.resolve_name(name) is not None


def sections(document: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_the_format_of_a_fleet_is_the_documented_one() -> None:
    formats = (PROJECT / "docs" / "formats.md").read_text(encoding="utf-8")
    (documented,) = re.findall(r":identity` \|.*\bformat \((\d+)\)", formats)
    assert int(documented) == FORMAT_VERSION


def test_settings_are_those_of_the_project_folder() -> None:
    """Scrapy appends the folder to the path, where another ``settings`` could stand before it."""
    program = (
        "import scrapy.cmdline\n"
        "try: scrapy.cmdline.execute(['scrapy', 'settings', '--get', 'BOT_NAME'])\n"
        "except SystemExit: pass\n"
        "import settings\n"
        "print(*settings.__path__, sep='\\n')\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    # -P: as with the command itself, the folder is not on the path from the beginning.
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=PROJECT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    name, *paths = done.stdout.splitlines()
    assert name == "crawl-once"
    assert [Path(path).resolve() for path in paths] == [PROJECT.resolve() / "settings"]
