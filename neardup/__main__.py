"""``python -m neardup``: near-duplicates of a corpus, two texts compared, parameters evaluated."""

import sys

from neardup.command_line.main import main
from neardup.corpus.corpus_command import run_corpus

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], run_corpus))
