"""The sites that are mirrored, and the truth about what they hold."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mirror_peers.pages import PAGES, read_page
from tests.sites.duplicates import duplicated_site, plain_path
from tests.sites.nginx import debian_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.nginx import ServedSite

DUPLICATES = " duplicates"
SITES = ("python3.11-doc", "openjdk-17-doc", "sqlite3-doc", "python3.11-doc" + DUPLICATES)


@dataclass(frozen=True)
class Original:
    """A served site, and the texts of its own files."""

    name: str
    served: ServedSite

    @cached_property
    def texts(self) -> dict[str, bytes]:
        """The digest of the visible text of each page, by its path from the folder served."""
        root = self.served.root
        files = [file for file in root.rglob("*") if file.suffix in PAGES and file.is_file()]
        return {str(file.relative_to(root)): read_page(file).text for file in files}

    @cached_property
    def mean_page_bytes(self) -> int:
        """Mean size of a page."""
        sizes = [(self.served.root / path).stat().st_size for path in self.texts]
        return sum(sizes) // len(sizes)

    @cached_property
    def _path(self) -> str:
        return urlsplit(self.served.url).path

    def file_at(self, url: str) -> str | None:
        """The path of the file that answers at a URL; None: it is none of the site."""
        parts, own = urlsplit(url), urlsplit(self.served.url)
        if parts.netloc != own.netloc or not parts.path.startswith(self._path):
            return None
        return plain_path(parts.path[len(self._path) - 1 :])


@contextmanager
def original(name: str) -> Iterator[Original]:
    """Serve one of the ``SITES``.

    Raises:
        SiteUnavailableError: This machine lacks what it needs.
    """
    package = name.removesuffix(DUPLICATES)
    serving = debian_site if package == name else duplicated_site
    with serving(package) as served:
        yield Original(name, served)
