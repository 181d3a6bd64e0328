"""Tell users that a process waits for loops to be compiled; nothing here takes long to import."""

from collections.abc import Callable

COMPILING = "compiling what compares texts, once per installation; it takes some seconds"
"""Message to users about that."""

COMPILING_MORE = f"compiling what this command adds, {COMPILING.partition(', ')[2]}"
"""Message where all that a crawl needs is compiled already, and was told."""

_announcers: list[Callable[[], object]] = []


def announce_compilation(announce: Callable[[], object]) -> None:
    """Let a function be called once if this process has to wait for loops to be compiled.

    Where nothing was ever compiled it is called before, else after the first loop that is not kept.
    """
    _announcers.append(announce)


def note_compilation() -> None:
    """Call the functions that announce a compilation, unless they were called."""
    while _announcers:
        _announcers.pop()()
