"""``python -m neardup``: near-duplicates in a file, two texts compared, parameters evaluated."""

import sys

from neardup.command_line.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
