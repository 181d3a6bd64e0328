"""Pages under two or three addresses, of which a few say something else under the last one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import product
from random import Random
from typing import TYPE_CHECKING

from tests.sites.dynamic.addresses import HOST, Address
from tests.sites.dynamic.page import Link, Page
from tests.sites.dynamic.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.sites.dynamic.options import Options

LISTED = 20


class _Twins(ABC):
    """Numbered pages, and pages of lists that link to them in every form.

    Those that differ come late, so that a rule is learned before, and stand at places that the
    seed draws.
    """

    name: str
    different: int

    def __init__(self, options: Options) -> None:
        self._options = options
        late = range(options.size // 4, options.size)
        drawn = Random(f"{options.seed} {self.name}").sample(late, min(self.different, len(late)))
        self._different = frozenset(drawn)

    @abstractmethod
    def forms(self, number: int) -> Sequence[Address]:
        """The addresses of a page, the plain one first; the last one may say something else."""

    def entries(self) -> Iterator[Address]:
        yield Address.of(f"/{self.name}s", page=0)

    def truth(self) -> Iterator[str]:
        yield from (f"{self.name}s {page}" for page in self._pages())
        yield from (f"{self.name} {number}" for number in range(self._options.size))
        yield from (f"{self.name} {number}, otherwise" for number in self._different)

    def answer(self, address: Address) -> Page | None:
        page = address.number("page", 0)
        if address.path == f"/{self.name}s" and page in self._pages():
            return self._list(page)
        plain = address.path.rstrip("/").rpartition("/")[2]
        number = int(plain) if plain.isascii() and plain.isdecimal() and len(plain) < 9 else -1
        if not 0 <= number < self._options.size:
            return None
        forms = self.forms(number)
        meant = [form for form in forms if _is_meant(form, address, forms)]
        return self._one(number, is_last=meant[0] is forms[-1]) if meant else None

    def _pages(self) -> range:
        return range((self._options.size + LISTED - 1) // LISTED)

    def _list(self, page: int) -> Page:
        first = page * LISTED
        shown = range(first, min(first + LISTED, self._options.size))
        links = [Link(to, to.slug) for number in shown for to in self.forms(number)]
        if page + 1 in self._pages():
            links.append(Link(Address.of(f"/{self.name}s", page=page + 1), "More"))
        content = f"{self.name}s {page}"
        return Page(content, content, (text(content, self._options.seed),), tuple(links))

    def _one(self, number: int, *, is_last: bool) -> Page:
        content = f"{self.name} {number}"
        if is_last and number in self._different:
            content += ", otherwise"
        links = (Link(Address("/"), "Home"),)
        return Page(content, content.title(), (text(content, self._options.seed),), links)


def _is_meant(form: Address, asked: Address, forms: Sequence[Address]) -> bool:
    """Whether a page is asked for in a form; hosts count only where they tell forms apart."""
    has_hosts = any(one.get(HOST) for one in forms)
    arguments = [pair for pair in asked.arguments if has_hosts or pair[0] != HOST]
    return form.path == asked.path and sorted(form.arguments) == sorted(arguments)


class Copies(_Twins):
    """``/copy/N``, ``?copy=1`` and ``?copy=2``: the argument matters on 12 pages."""

    name = "copy"
    different = 12

    def forms(self, number: int) -> Sequence[Address]:
        plain = Address(f"/copy/{number}")
        return plain, plain.having(copy=1), plain.having(copy=2)


class Prints(_Twins):
    """``/story/N`` and ``/print/story/N``: the print view differs on 7 pages."""

    name = "story"
    different = 7

    def forms(self, number: int) -> Sequence[Address]:
        return Address(f"/story/{number}"), Address(f"/print/story/{number}")


class Hosts(_Twins):
    """``/place/N`` at two hosts: the second one differs on 7 pages."""

    name = "place"
    different = 7

    def forms(self, number: int) -> Sequence[Address]:
        plain = Address(f"/place/{number}")
        return plain, plain.having(**{HOST: "1"})


class Pairs(_Twins):
    """``/tale/N``, with ``/print`` before it and with ``?view=all``: 12 pages differ with both."""

    name = "tale"
    different = 12

    def forms(self, number: int) -> Sequence[Address]:
        plain, printed = Address(f"/tale/{number}"), Address(f"/print/tale/{number}")
        ways = product((plain, printed), (False, True))
        return [one.having(view="all") if is_all else one for one, is_all in ways]
