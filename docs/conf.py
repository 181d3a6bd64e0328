"""Configure Sphinx: ``sphinx-build -W docs OUT`` makes the pages, which need no network."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "_extensions"), str(Path(__file__).parents[1])]

project = "crawl-once"
extensions = ["myst_parser", "made_from_code"]
html_theme = "furo"
html_title = "crawl-once"
html_static_path = ["_static"]
html_css_files = ["code.css"]
myst_heading_anchors = 4
exclude_patterns = ["_extensions"]
# A summary is fetched, which a browser refuses for pages on the disk.
html_show_search_summary = False
