"""Hold the trials of fixed rules whose pages were not compared yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class VariantTrial(NamedTuple):
    """The trial of a variant.

    Attributes:
        standing: The key of the URL that it is taken for.
        host: The host with its port.
        rules: Names of the rules by which it is.
    """

    standing: bytes
    host: str
    rules: tuple[str, ...]


class VariantTrials:
    """Finds the trials that wait for the page of a key, and those that need a control.

    A control is a second request for the page that a variant was taken for: a page that is
    another one at each request says nothing about a rule.
    """

    def __init__(self) -> None:
        self._trials: dict[bytes, VariantTrial] = {}
        self._waiting: dict[bytes, set[bytes]] = {}
        self._waits_for: dict[bytes, set[bytes]] = {}
        self._controls: dict[bytes, str] = {}
        self._controlled: set[bytes] = set()

    def __iter__(self) -> Iterator[bytes]:
        return iter(list(self._trials))

    def __len__(self) -> int:
        return len(self._trials)

    def __contains__(self, key: bytes) -> bool:
        return key in self._trials

    def __getitem__(self, key: bytes) -> VariantTrial:
        return self._trials[key]

    def begin(self, key: bytes, trial: VariantTrial, pages: Iterable[bytes]) -> None:
        """Begin the trial of a variant.

        Args:
            key: The key of the variant.
            trial: The trial.
            pages: Keys of the pages that it waits for besides its own.
        """
        self._trials[key] = trial
        for page in pages:
            self.wait_for(key, page)

    def wait_for(self, key: bytes, page: bytes) -> None:
        """Let a trial wait for the page of a further key, to which a redirect leads."""
        self._waiting.setdefault(page, set()).add(key)
        self._waits_for.setdefault(key, set()).add(page)

    def concerned(self, page: bytes) -> list[bytes]:
        """Return the variants whose trials depend on what a key gives."""
        return [key for key in {page, *self._waiting.get(page, ())} if key in self._trials]

    def end(self, key: bytes) -> VariantTrial:
        """Forget a trial, and return it."""
        self._controls.pop(key, None)
        self._controlled.discard(key)
        for page in self._waits_for.pop(key):
            self._waiting[page].discard(key)
            if not self._waiting[page]:
                del self._waiting[page]
        return self._trials.pop(key)

    def want_control(self, key: bytes, url: str) -> None:
        """Let the page of a URL be requested once more for the trial of a variant."""
        self._controls.setdefault(key, url)

    @property
    def are_controls_wanted(self) -> bool:
        return len(self._controls) > len(self._controlled)

    def take_controls(self) -> list[tuple[bytes, str]]:
        """Return the keys of variants that need a control, once each, with the URLs to request."""
        taken = {key: url for key, url in self._controls.items() if key not in self._controlled}
        self._controlled.update(taken)
        return list(taken.items())

    def clear(self) -> None:
        """Forget all trials."""
        for held in (self._trials, self._waiting, self._waits_for, self._controls):
            held.clear()
        self._controlled.clear()
