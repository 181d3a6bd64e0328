"""The many ways in which a site writes one address, and how it reads them all."""

from __future__ import annotations

import re
from random import Random, SystemRandom
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, unquote, unquote_plus, urlsplit

from tests.sites.dynamic.addresses import HOST, Address

if TYPE_CHECKING:
    from tests.sites.dynamic.options import Options

SESSION_DIGITS = 10
"""Hexadecimal digits of a session id: too few to be known by its shape."""

_INDEX = "index.html"
_UNCOUNTED = 40  # values that stand for nothing go so far


class Spelling:
    """Writes and reads the URLs of one site.

    Args:
        options: Which aliases there are.
        origins: The site's scheme, host and port; links name the second one only with ``hosts``.
    """

    def __init__(self, options: Options, origins: tuple[str, str]) -> None:
        self._options = options
        self._origins = origins
        self._ids = SystemRandom()

    def write(self, address: Address, source: Address) -> str:
        """The reference by which one page links to another."""
        chance = Random(f"{self._options.seed} {source} {address}")
        path, query = self._path(address.path, chance), self._query(address, source, chance)
        origin = chance.choice(self._origins) if self._options.hosts else ""
        if source.get(HOST) != address.get(HOST) and not self._options.hosts:
            origin = self._origins[int(address.get(HOST) or 0)]
        return f"{origin}{path}?{query}" if query else f"{origin}{path}"

    def read(self, target: str, host: str = "") -> Address:
        """The address that a request target means, without what the site takes no notice of."""
        parts = urlsplit(f"http://any{target}" if target.startswith("/") else target)
        path = unquote(parts.path) or "/"
        options = self._options
        if options.session == "path":
            path = re.sub("^/s/[0-9a-f]+(?=/)", "", path)
        if options.cases:
            path = path.lower()
        if options.folders and path.endswith(f"/{_INDEX}"):
            path = path.removesuffix(_INDEX)
        address = Address(path, self._arguments(parts.query))
        return address.having(**{HOST: "1"}) if self._origins[1] == f"http://{host}" else address

    def _arguments(self, query: str) -> tuple[tuple[str, str], ...]:
        separators = "".join(self._options.separators)
        ignored = {"ref", self._options.session_name}
        found: dict[str, str] = {}
        for argument in re.split(f"[{separators}]", query):
            name, _, value = argument.partition("=")
            if value and name not in ignored:
                found[unquote_plus(name)] = self._value(value)
        return tuple(found.items())

    def _value(self, written: str) -> str:
        once = unquote_plus(written)
        return unquote_plus(once) if self._options.escaped_twice else once

    def _path(self, path: str, chance: Random) -> str:
        options = self._options
        if options.folders and path.endswith("/"):
            shorter = path if path == "/" else path[:-1]
            path = chance.choice([path, shorter, path + _INDEX])
        if options.cases:
            path = chance.choice([path, path.upper(), path.title()])
        return f"/s/{self._session_id()}{path}" if options.session == "path" else path

    def _query(self, address: Address, source: Address, chance: Random) -> str:
        options = self._options
        pairs = [(name, self._escaped(value, chance)) for name, value in address.arguments]
        pairs = [pair for pair in pairs if pair[0] != HOST]
        if options.repeated:
            before = [(name, str(chance.randrange(_UNCOUNTED))) for name, _ in pairs]
            pairs = [*chance.choice([before, pairs, []]), *pairs]
        if options.refs:
            pairs.append(("ref", quote_plus(source.slug)))
        if options.session == "query":
            pairs.append((options.session_name, self._session_id()))
        if options.shuffled and not options.repeated:
            chance.shuffle(pairs)
        written = [f"{name}={value}" for name, value in pairs]
        if options.valueless:
            written.insert(chance.randint(0, len(written)), chance.choice(["js", "nocache", "a="]))
        return chance.choice(options.separators).join(written)

    def _escaped(self, value: str, chance: Random) -> str:
        if not self._options.escaped_twice:
            return quote_plus(value)
        once = "".join(f"%{byte:02X}" for byte in value.encode())
        return chance.choice([quote_plus(value), once, once.replace("%", "%25")])

    def _session_id(self) -> str:
        return f"{self._ids.getrandbits(4 * SESSION_DIGITS):0{SESSION_DIGITS}x}"
