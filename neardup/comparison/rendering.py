"""A diff as plain text."""

from collections.abc import Iterator, Sequence

from neardup.comparison.diff import ADDED, EQUAL, REMOVED, Run
from neardup.errors import ParameterError

_MARKS = {REMOVED: ("[-", "-]"), ADDED: ("{+", "+}")}
_GAP = "[...]"


def render_diff(runs: Sequence[Run], *, context: int | None = None) -> str:
    """Write a diff as ``the [-quick-] {+slow+} fox``, as GNU wdiff and ``git --word-diff`` do.

    For people: a text that holds such marks itself is not told apart.

    Args:
        runs: What ``diff`` returns.
        context: Equal words shown on either side of a change; the rest of a longer stretch
            becomes ``[...]``. None: all.

    Raises:
        ParameterError: ``context`` is negative.
    """
    if context is not None and context < 0:
        raise ParameterError(f"context must be at least 0, got {context}")
    return "".join(_pieces(runs, context)).strip()


def _pieces(runs: Sequence[Run], context: int | None) -> Iterator[str]:
    last = len(runs) - 1
    for place, run in enumerate(runs):
        if run.kind != EQUAL:
            yield _marked(run)
        elif context is None:
            yield "".join(run.words)
        else:
            yield _shortened(run.words, context if place else 0, context if place < last else 0)


def _marked(run: Run) -> str:
    opening, closing = _MARKS[run.kind]
    text = "".join(run.words)
    inner = text.rstrip()
    # The white space stays outside of the marks.
    return f"{opening}{inner}{closing}{text[len(inner) :]}"


def _shortened(words: tuple[str, ...], before: int, after: int) -> str:
    if len(words) <= before + after:
        return "".join(words)
    head, tail = "".join(words[:before]), "".join(words[len(words) - after :])
    return f"{head}{_GAP} {tail}"
