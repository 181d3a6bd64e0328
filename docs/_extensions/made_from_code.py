"""Fill pages from the code: commands, settings, verdicts, and the modules of each room."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler import default_settings
from crawler.console.command_line import GROUPS
from crawler.pages.verdicts import VERDICTS
from crawler.program import load_command, make_parser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sphinx.application import Sphinx

    from crawler.console.command_line import Command

PACKAGES = ("crawler", "neardup")
_PROJECT = Path(__file__).parents[2]
_TO_OUTSIDE = re.compile(r"\]\(\.\./([^)\s]+)\)")


def commands() -> str:
    """Return the help of every command, in the order of the groups."""
    return "\n\n".join(
        f"## {group.capitalize()}\n\n" + "\n\n".join(map(_command, names))
        for group, names in GROUPS.items()
    )


def _command(name: str) -> str:
    command = load_command(name)
    return "\n\n".join(
        _usage(one) for one in (command, *(verb() for verb in command.verbs.values()))
    )


def _usage(command: Command) -> str:
    usage = make_parser(command).format_help()
    return f"### crawl-once {command.name}\n\n```text\n{usage.rstrip()}\n```"


def settings() -> str:
    """Return a section for each setting: its default and its meaning."""
    return "\n\n".join(
        f"## {name}\n\n{meaning}\n\nDefault: `{getattr(default_settings, name)!r}`"
        for name, meaning in _settings()
    )


def _settings() -> Iterator[tuple[str, str]]:
    source = Path(default_settings.__file__).read_text(encoding="utf-8")
    body = ast.parse(source).body
    for node, after in pairwise(body):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and isinstance(after, ast.Expr):
            yield target.id, ast.literal_eval(after.value)


def verdicts() -> str:
    """Return a table of the verdicts, in the order of reports."""
    rows = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in VERDICTS.items())
    return f"| verdict | meaning |\n|---|---|\n{rows}"


def rooms() -> str:
    """Return the modules of each room with the first lines of their docstrings."""
    folders = sorted({file.parent for name in PACKAGES for file in (_PROJECT / name).rglob("*.py")})
    return "## All modules\n\n" + "\n\n".join(map(_room, folders))


def _room(folder: Path) -> str:
    lines = [
        f"- `{file.name}`: {first_line}"
        for file in sorted(folder.glob("*.py"))
        if (first_line := _first_line(file))
    ]
    return f"### `{folder.relative_to(_PROJECT)}`\n\n" + "\n".join(lines)


def _first_line(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split())


MADE: dict[str, Callable[[], str]] = {
    "reference/commands": commands,
    "reference/settings": settings,
    "reference/verdicts": verdicts,
    "rooms": rooms,
}


def complete(app: Sphinx, page: str, source: list[str]) -> None:
    """Append to a page what is made; offer files outside docs as downloads."""
    source[0] = _TO_OUTSIDE.sub(r"](path:../\1)", source[0]) if "/" not in page else source[0]
    if page in MADE:
        source[0] += "\n" + MADE[page]() + "\n"


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("source-read", complete)
    return {"parallel_read_safe": True}
