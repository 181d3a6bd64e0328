"""``crawl-once config`` and ``completion``: this program, its options and settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.console.command_line import Command
from crawler.console.escaping import say
from crawler.console.options import JSON, CommandError, NoOptions, flag
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from crawler.console.profile import Configuration

_PROFILE = "the profile, settings/crawl.py"


class _InForce(NamedTuple):
    """An option or a setting that holds.

    Attributes:
        name: Its name, an option with dashes.
        value: Its value.
        origin: Where it comes from.
        is_setting: Whether it is a setting of Scrapy's kind.
    """

    name: str
    value: Any
    origin: str
    is_setting: bool


@dataclass(frozen=True)
class _ConfigOptions:
    all: bool = flag("the defaults too")
    json: bool = flag(JSON)


class ConfigCommand(Command):
    """Fetches nothing."""

    options = _ConfigOptions
    uses_profile = True
    usage = "[--all] [--json] [--config FILE] [-s NAME=VALUE]"
    summary = "Say which options and settings hold here, and where each comes from"
    description = (
        "Print the options and settings that a crawl in this folder would have, as TOML that "
        "crawl-once.toml may hold, and behind each where it comes from: the command line, "
        "crawl-once.toml, the profile, or (with --all) the default."
    )

    def act(self, args: list[str], opts: _ConfigOptions) -> None:
        if args:
            raise CommandError(f"no argument is needed, got {' '.join(args)}")
        configuration = self.host.configuration
        in_force = [*_options(configuration), *self._settings(configuration, opts)]
        in_force.append(_browser(configuration, self.host.settings))
        self.say_result(
            opts,
            lambda: {one.name: {"value": one.value, "from": one.origin} for one in in_force},
            _lines(in_force, configuration),
        )

    def _settings(self, configuration: Configuration, opts: _ConfigOptions) -> Iterator[_InForce]:
        from scrapy.settings import SETTINGS_PRIORITIES

        from crawler.options import check_names, our_settings

        settings = self.host.settings
        check_names(settings)
        given = {word.partition("=")[0] for word in self.given.set}
        defaults = our_settings()
        for name in sorted({*map(str, settings), *defaults}):
            priority = settings.getpriority(name)
            if name in given:
                origin = "-s on the command line"
            elif name in configuration.settings:
                origin = str(configuration.path)
            elif priority is not None and priority >= SETTINGS_PRIORITIES["project"]:
                origin = _PROFILE
            elif opts.all:
                origin = "the default" if name in defaults else "the default of Scrapy"
            else:
                continue
            value = settings[name] if name in settings else defaults[name]
            yield _InForce(name, _copied(value), origin, is_setting=True)


def _options(configuration: Configuration) -> Iterator[_InForce]:
    for name, value in configuration.arguments.items():
        origin = str(configuration.path)
        yield _InForce(name.replace("_", "-"), value, origin, is_setting=False)


def _browser(configuration: Configuration, settings: BaseSettings) -> _InForce:
    """Return the browser in which a crawl would show pages, or why there is none."""
    from crawler.rendering.browser import OWN, browser_path
    from crawler.spiders.arguments import render_choice
    from crawler.spiders.page_rendering import wanted_rendering

    value, origin = None, "no page would be shown in one"
    try:
        options = wanted_rendering(settings, render_choice(configuration.arguments))
        if options is not None:
            value = browser_path(options) or OWN
            origin = "CRAWL_RENDER_BROWSER" if options.browser_path else "the first that is found"
    except ValueError as error:
        origin = str(error)
    return _InForce("browser", value, origin, is_setting=False)


def _copied(value: Any) -> Any:
    """Return a value as JSON has it."""
    if hasattr(value, "items"):
        return {str(key): _copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_copied(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _lines(in_force: list[_InForce], configuration: Configuration) -> Iterator[str]:
    """Yield TOML, with what TOML cannot say as comments."""
    yield f"# configuration file: {configuration.path or 'none (crawl-once.toml is not here)'}"
    for one in in_force:
        if one.name == "browser":
            yield f"# browser: {one.value or 'none'} ({one.origin})"
        elif not one.is_setting:
            yield _line(one)
    yield ""
    yield "[settings]"
    for one in in_force:
        if one.is_setting:
            yield _line(one)


def _line(one: _InForce) -> str:
    if one.value is None:
        return f"# {one.name} is not set  # {one.origin}"
    return f"{one.name} = {_toml(one.value)}  # {one.origin}"


def _toml(value: Any) -> str:
    """Return a value as TOML; a table within a line."""
    if isinstance(value, dict):
        inner = ", ".join(
            f"{json.dumps(key)} = {_toml(found)}"
            for key, found in value.items()
            if found is not None
        )
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


SHELLS = ("bash", "zsh", "fish")


class CompletionCommand(Command):
    """Prints a script for the start file of a shell."""

    word = "completion"
    usage = "bash|zsh|fish"
    summary = "Print a script by which bash, zsh or fish complete commands and options"
    description = (
        "Print a script for the start file of a shell. bash: add the line "
        'eval "$(crawl-once completion bash)" to ~/.bashrc; zsh: the same with zsh to ~/.zshrc; '
        "fish: crawl-once completion fish > ~/.config/fish/completions/crawl-once.fish"
    )

    def act(self, args: list[str], opts: NoOptions) -> None:
        from argcomplete.shell_integration import shellcode

        if len(args) != 1 or args[0] not in SHELLS:
            hint = did_you_mean(args[0], SHELLS) if args else ""
            got = " ".join(args) or "none"
            raise CommandError(f"bash, zsh or fish is needed, got {got}{hint}")
        script = shellcode(["crawl-once"], shell=args[0])
        say(script.rstrip("\n"), with_lines=True)
