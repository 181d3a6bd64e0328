"""A site whose pages come from a program: many URLs for a page, traps, and the truth about it."""

from tests.sites.dynamic.options import CLUTTERED, RULED, Options
from tests.sites.dynamic.site import DynamicSite, Fetch

__all__ = ["CLUTTERED", "RULED", "DynamicSite", "Fetch", "Options"]
