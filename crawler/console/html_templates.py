"""Fill the templates of pages that commands write."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def template_environment() -> Environment:
    """Return what fills templates: all values are escaped, and a missing one is an error."""
    return Environment(
        loader=PackageLoader("crawler.console", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
