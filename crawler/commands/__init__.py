"""Define the commands of ``scrapy``, a file each."""

import sys

from crawler.console.program_start import prepare_program

prepare_program(sys.argv)
