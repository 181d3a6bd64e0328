"""``crawl-once config``: say which options and settings hold, and where each comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.console.command_line import CommandError, PlainCommand

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from crawler.console.profile import Configuration

_PROFILE = "the profile, settings/crawl.py"


class _Held(NamedTuple):
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


class ConfigCommand(PlainCommand):
    """Fetches nothing."""

    uses_profile = True
    usage = "[--all] [--json] [--config FILE] [-s NAME=VALUE]"
    summary = "Say which options and settings hold here, and where each comes from"
    description = (
        "Print the options and settings that a crawl in this folder would have, as TOML that "
        "crawl-once.toml may hold, and behind each where it comes from: the command line, "
        "crawl-once.toml, the profile, or (with --all) the default."
    )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="the defaults too")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print what holds."""
        if args:
            raise CommandError(f"no argument is needed, got {' '.join(args)}")
        configuration = self.host.configuration
        held = [*_options(configuration), *self._settings(configuration, opts)]
        held.append(_browser(configuration, self.host.settings))
        self.say_result(
            opts,
            lambda: {one.name: {"value": one.value, "from": one.origin} for one in held},
            _lines(held, configuration),
        )

    def _settings(self, configuration: Configuration, opts: argparse.Namespace) -> Iterator[_Held]:
        from scrapy.settings import SETTINGS_PRIORITIES

        from crawler.options import check_names, our_settings

        settings = self.host.settings
        check_names(settings)
        given = {word.partition("=")[0] for word in opts.set}
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
            yield _Held(name, _copied(value), origin, is_setting=True)


def _options(configuration: Configuration) -> Iterator[_Held]:
    for name, value in configuration.arguments.items():
        origin = str(configuration.path)
        yield _Held(name.replace("_", "-"), value, origin, is_setting=False)


def _browser(configuration: Configuration, settings: BaseSettings) -> _Held:
    """Return the browser in which a crawl would show pages, or why there is none."""
    from crawler.page_rendering import wanted_rendering
    from crawler.rendering.browser import OWN, browser_path
    from crawler.spiders.arguments import render_choice

    value, origin = None, "no page would be shown in one"
    try:
        options = wanted_rendering(settings, render_choice(configuration.arguments))
        if options is not None:
            value = browser_path(options) or OWN
            origin = "CRAWL_RENDER_BROWSER" if options.browser_path else "the first that is found"
    except ValueError as error:
        origin = str(error)
    return _Held("browser", value, origin, is_setting=False)


def _copied(value: Any) -> Any:
    """Return a value as JSON has it."""
    if hasattr(value, "items"):
        return {str(key): _copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_copied(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _lines(held: list[_Held], configuration: Configuration) -> Iterator[str]:
    """Yield TOML, with what TOML cannot say as comments."""
    yield f"# configuration file: {configuration.path or 'none (crawl-once.toml is not here)'}"
    for one in held:
        if one.name == "browser":
            yield f"# browser: {one.value or 'none'} ({one.origin})"
        elif not one.is_setting:
            yield _line(one)
    yield ""
    yield "[settings]"
    for one in held:
        if one.is_setting:
            yield _line(one)


def _line(one: _Held) -> str:
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
