"""``python -m neardup``: near-duplicates of a corpus, two texts compared, parameters evaluated."""

import sys

from neardup.command_line.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
