"""Read what the arguments of a spider say of rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

NO: Final = "no"
AUTO: Final = "auto"
ALWAYS: Final = "always"
MODES: Final = (NO, AUTO, ALWAYS)


class RenderChoice(NamedTuple):
    """What the arguments of a spider say of rendering.

    Attributes:
        mode: One of ``MODES``; empty: auto where there is a browser.
        screenshots: Whether a picture of each page is kept.
        for_disk: Whether documents are written to be opened without scripts.
    """

    mode: str = ""
    screenshots: bool = False
    for_disk: bool = False


def render_choice(arguments: Mapping[str, str]) -> RenderChoice:
    """Return what ``-a render`` and ``-a screenshots`` say.

    Raises:
        ValueError: One of them is wrong, or they contradict each other.
    """
    mode, wanted = arguments.get("render"), arguments.get("screenshots", "no")
    if mode is not None and mode not in MODES:
        hint = did_you_mean(mode, MODES)
        raise ValueError(f"-a render must be no, auto or always, got {mode!r}{hint}")
    if wanted not in {"yes", "no"}:
        raise ValueError(f"-a screenshots must be yes or no, got {wanted!r}")
    if wanted == "no":
        return RenderChoice(mode or "")
    if mode == NO:
        raise ValueError(
            "-a screenshots=yes takes pictures in a browser, and -a render=no has none"
        )
    return RenderChoice(mode or ALWAYS, screenshots=True)
