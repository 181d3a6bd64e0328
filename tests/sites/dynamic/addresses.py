"""Which page a link means, apart from how it is spelt."""

from __future__ import annotations

from dataclasses import dataclass, replace

HOST = "@host"
"""Name of an argument that is none: at which of its hosts a site is asked, ``1`` at the second."""


@dataclass(frozen=True)
class Address:
    """A path and arguments as the site's programs see them, decoded, each name once."""

    path: str
    arguments: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, path: str, **arguments: object) -> Address:
        return cls(path, tuple((name, str(value)) for name, value in arguments.items()))

    def get(self, name: str, otherwise: str = "") -> str:
        return dict(self.arguments).get(name, otherwise)

    def number(self, name: str, otherwise: int = -1) -> int:
        """An argument as a whole number, -1 where it is none."""
        value = self.get(name, str(otherwise))
        return int(value) if value.isascii() and value.isdecimal() and len(value) < 9 else -1

    def having(self, **arguments: object) -> Address:
        """The same with some arguments set anew, at the end."""
        kept = [pair for pair in self.arguments if pair[0] not in arguments]
        return replace(self, arguments=(*kept, *Address.of("", **arguments).arguments))

    @property
    def slug(self) -> str:
        """A short name, as sites put it into ``ref=``."""
        values = (value for name, value in self.arguments if name != HOST)
        parts = [*self.path.strip("/").split("/"), *values]
        return "-".join(part for part in parts if part) or "home"
