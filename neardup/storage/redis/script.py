"""Lua that runs in the server, from files of its own."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import NamedTuple, Self

Argument = str | bytes | int | float


@dataclass(frozen=True, slots=True)
class Script:
    """A script, called by its digest once the server has met it.

    Attributes:
        source: The Lua.
        sha: Its SHA-1 in hexadecimal digits, the name that the server knows it by.
    """

    source: str = field(repr=False)
    sha: str

    @classmethod
    def read(cls, package: str, *names: str, head: Sequence[str] = ()) -> Self:
        """Return the script of files that lie in a package, one after the other.

        Args:
            package: The package, as in ``import``.
            names: The names of the files, with ``.lua``.
            head: Lines that stand before them.
        """
        folder = files(package)
        texts = (folder.joinpath(name).read_text(encoding="utf-8") for name in names)
        source = "\n".join((*head, *texts))
        return cls(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


class Call(NamedTuple):
    """A script with what it is told; on a cluster all its keys lie in one slot."""

    script: Script
    keys: Sequence[str | bytes]
    args: Sequence[Argument] = ()

    def by_digest(self) -> tuple[Argument, ...]:
        """Return the command for a server that has met the script."""
        return ("EVALSHA", self.script.sha, len(self.keys), *self.keys, *self.args)

    def with_source(self) -> tuple[Argument, ...]:
        """Return the command for any server; from then on it has met the script."""
        return ("EVAL", self.script.source, len(self.keys), *self.keys, *self.args)
