"""Run ``python -m crawler``, which is ``crawl-once``."""

import sys

from crawler.program import main

sys.exit(main())
