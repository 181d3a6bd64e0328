"""Offer the commands of ``crawl-once`` as commands of ``scrapy``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter

from crawler.console.command_line import group_of
from crawler.console.profile import NO_CONFIGURATION

if TYPE_CHECKING:
    import argparse

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import Settings

    from crawler.console.command_line import Command
    from crawler.console.profile import Configuration


class UnderlinedHelp(ScrapyHelpFormatter):
    """Scrapy's, which takes each line of help that ends in a colon for a heading."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = super()._split_lines(text, width)
        return [f"{line} " if line.endswith(":") else line for line in lines]


class ScrapyHost:
    """Runs a command within ``scrapy``, which has read the settings."""

    program = "scrapy"

    def __init__(self, command: ScrapyCommand) -> None:
        self._command = command

    @property
    def configuration(self) -> Configuration:
        return NO_CONFIGURATION

    @property
    def settings(self) -> Settings:
        settings = self._command.settings
        assert settings is not None
        return settings

    @property
    def crawler_process(self) -> CrawlerProcessBase:
        process = self._command.crawler_process
        assert process is not None
        return process


class AdaptedCommand(ScrapyCommand):
    """A command of ``scrapy`` that is one of ours."""

    requires_crawler_process = False
    own: ClassVar[type[Command]]

    def __init__(self) -> None:
        super().__init__()
        # Scrapy reads the options before it tells the command which verb is meant.
        self._own, _ = self.own().meant(sys.argv[2:])
        self._own.host = ScrapyHost(self)

    def syntax(self) -> str:
        return f"{self._own.name.partition(' ')[2]} {self._own.usage}".lstrip()

    def short_desc(self) -> str:
        group = group_of(self._own.name)
        return f"[{group}] {self._own.summary}" if group else self._own.summary

    def long_desc(self) -> str:
        return self._own.description or self._own.summary

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = UnderlinedHelp
        self._own.add_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        self._own.run(args[1:] if " " in self._own.name else args, opts)
        self.exitcode = self._own.exitcode


def adapted(own: type[Command], **attributes: Any) -> type[ScrapyCommand]:
    """Return the command of ``scrapy`` for a command of ours.

    Args:
        own: Our command.
        attributes: Attributes of the class. Scrapy names a command by its ``__module__``, or by
            its entry point.
    """
    whole = {"own": own, "__module__": own.__module__, **attributes}
    return type(own.__name__, (AdaptedCommand,), whole)
