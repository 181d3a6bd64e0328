"""``crawl-once completion SHELL``: print what makes a shell complete commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand
from crawler.console.escaping import say
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse

SHELLS = ("bash", "zsh", "fish")


class CompletionCommand(PlainCommand):
    """Prints a script for the start file of a shell."""

    usage = "bash|zsh|fish"
    summary = "Print a script by which bash, zsh or fish complete commands and options"
    description = (
        "Print a script for the start file of a shell. bash: add the line "
        'eval "$(crawl-once completion bash)" to ~/.bashrc; zsh: the same with zsh to ~/.zshrc; '
        "fish: crawl-once completion fish > ~/.config/fish/completions/crawl-once.fish"
    )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the script of a shell."""
        from argcomplete.shell_integration import shellcode

        if len(args) != 1 or args[0] not in SHELLS:
            hint = did_you_mean(args[0], SHELLS) if args else ""
            got = " ".join(args) or "none"
            raise CommandError(f"bash, zsh or fish is needed, got {got}{hint}")
        script = shellcode(["crawl-once"], shell=args[0])
        say(script.rstrip("\n"), with_lines=True)
