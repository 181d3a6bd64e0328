"""Visible texts of a page, described in visible_text.pyx."""

from crawler.reading.flat_page import FlatPage
from crawler.reading.text import Visible

def read_visible(page: FlatPage) -> Visible: ...
