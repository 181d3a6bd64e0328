"""What a window shows, as its address says it: a reload, or a bookmark, brings it back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from crawler.lab.app.outcome_rows import choice_key
from crawler.lab.choice import Choice
from neardup import Features, ParameterError

if TYPE_CHECKING:
    from neardup import Parameters

_LONGEST = 200
_VERIFY = {"verified": True, "alone": False}


def address_of(tab: str, choice: Choice, holds: Parameters) -> str:
    """The query of the address: which tab is shown, and what is tried, where that holds not."""
    shown = {"tab": tab}
    if choice != Choice(holds):
        shown["tried"] = choice_key(choice)
    return f"?{urlencode(shown, safe='/')}"


def read_tried(tried: str, holds: Parameters) -> Choice | None:
    """What an address says is tried; None where it says nothing that makes sense."""
    parts = tried.split("/")
    if len(tried) > _LONGEST or len(parts) != 7 or parts[6] not in _VERIFY:
        return None
    method, features, nearest, farthest, similarity, words, verify = parts
    try:
        parameters = replace(
            holds,
            features=Features.parsed(features),
            max_distance=int(nearest),
            candidate_distance=int(farthest),
            min_similarity=float(similarity),
            min_words=int(words),
            verify=_VERIFY[verify],
        )
        if parameters.features == holds.fingerprint_features and parameters.verify == holds.verify:
            parameters = replace(parameters, features=holds.features)
        return Choice(parameters, method)
    except (ParameterError, ValueError):
        return None
