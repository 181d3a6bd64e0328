"""Compute the lines of a sweep over distances, with a candidate distance where one is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.choice import Choice
    from crawler.lab.figures import SweepLine
    from crawler.lab.judgement import Judgement
    from crawler.lab.session import Session


def sweep_lines(
    session: Session, choice: Choice, distances: Sequence[int], candidate_distance: int | None
) -> list[SweepLine]:
    """Return a line for each ``max_distance``.

    Args:
        session: The session whose pages are judged.
        choice: All other parameters that are tried.
        distances: Values of ``max_distance``, 0 to 8.
        candidate_distance: The largest distance of candidates, in bits; None: no farther than the
            distance of the line, as in ``Session.sweep``.
    """
    lines = session.sweep(choice, distances)
    if candidate_distance is None:
        return lines
    stored = session.stored()
    return [_with_candidates(session, stored, line, candidate_distance) for line in lines]


def _with_candidates(
    session: Session, stored: Judgement, line: SweepLine, candidate_distance: int
) -> SweepLine:
    parameters = replace(
        line.choice.parameters,
        candidate_distance=max(line.max_distance, candidate_distance),
    )
    choice = replace(line.choice, parameters=parameters)
    judged = session.judge(choice)
    changes = judged.changes_from(stored)
    return replace(
        line,
        choice=choice,
        kept=judged.kept_count,
        dropped=judged.dropped_count,
        layers=judged.counts(),
        now_kept=len(changes.now_kept),
        now_dropped=len(changes.now_dropped),
    )
