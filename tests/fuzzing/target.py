"""Define a target, a reader of foreign bytes, and find all that there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

SUBJECTS = (
    *("web_pages", "answers", "documents", "sitemaps", "addresses", "mirror_documents"),
    *("archives", "user_files", "corpora", "index_files", "crawl_directories", "lab_requests"),
)
"""Modules of this package; each has a tuple ``TARGETS``."""

Read: TypeAlias = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Target:
    """A reader of foreign bytes.

    Attributes:
        name: The name by which it is chosen.
        seeds: Function that returns whole inputs, which are changed.
        begin: Function that returns the reader, given a folder of its own.
        refusals: Exceptions by which it is documented to refuse an input.
        max_bytes: Size of the largest input that is made.
        max_secs: Longest time that one input may take.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    begin: Callable[[Path], Read]
    refusals: tuple[type[BaseException], ...] = ()
    max_bytes: int = 1 << 16
    max_secs: float = 10.0


def together(name: str, *targets: Target) -> Target:
    """Return a target of several readers; the first byte of an input chooses one of them."""

    def seeds() -> list[bytes]:
        return [
            bytes([number]) + seed
            for number, target in enumerate(targets)
            for seed in target.seeds()
        ]

    def begin(folder: Path) -> Read:
        readers = []
        for target in targets:
            own = folder / target.name
            own.mkdir()
            readers.append((target.begin(own), target.refusals))

        def read(data: bytes) -> None:
            reader, refusals = readers[(data[:1] or b"\0")[0] % len(readers)]
            with suppress(*refusals):
                reader(data[1:])

        return read

    max_bytes = 1 + max(target.max_bytes for target in targets)
    return Target(name, seeds, begin, (), max_bytes, max(target.max_secs for target in targets))


def targets_of(subject: str) -> tuple[Target, ...]:
    """Return the targets of one module of this package."""
    found: tuple[Target, ...] = import_module(f"tests.fuzzing.{subject}").TARGETS
    return found


def find_targets(names: Sequence[str]) -> list[tuple[str, Target]]:
    """Return the chosen targets with their subjects, all of them where none is named.

    Raises:
        LookupError: One of the names is that of no target and of no subject.
    """
    found = [(subject, target) for subject in SUBJECTS for target in targets_of(subject)]
    known = {word for subject, target in found for word in (subject, target.name)}
    if unknown := sorted(set(names) - known):
        raise LookupError(f"no target is called {', '.join(unknown)}; --list names them")
    return [
        (subject, target)
        for subject, target in found
        if not names or {subject, target.name} & set(names)
    ]
