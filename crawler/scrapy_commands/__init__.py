"""Define what ``scrapy`` has of our commands.

Those of this module are in every project where crawl-once is installed, by its entry points. The
modules beside it hold those of our own project, which ``COMMANDS_MODULE`` names.
"""

import sys

from crawler.commands.adopt import AdoptCommand
from crawler.commands.compare import CompareCommand
from crawler.commands.fleet import FleetCommand
from crawler.commands.lab import ServeLabCommand
from crawler.commands.label import LabelCommand
from crawler.commands.links import LinksCommand
from crawler.commands.merge import MergeCommand
from crawler.commands.pages import PagesCommand
from crawler.commands.pairs import PairsCommand
from crawler.commands.rejudge import RejudgeCommand
from crawler.commands.report import ReportCommand
from crawler.commands.rules import RulesCommand
from crawler.commands.sweep import SweepCommand
from crawler.commands.tune import TuneCommand
from crawler.commands.verify import VerifyCommand
from crawler.commands.watch import WatchCommand
from crawler.console.scrapy_adapter import adapted
from crawler.console.scrapy_start import prepare_scrapy

Adopt = adapted(AdoptCommand)
Compare = adapted(CompareCommand)
Fleet = adapted(FleetCommand)
Lab = adapted(ServeLabCommand)
Label = adapted(LabelCommand)
Links = adapted(LinksCommand)
Merge = adapted(MergeCommand)
Pages = adapted(PagesCommand)
Pairs = adapted(PairsCommand)
Rejudge = adapted(RejudgeCommand)
Report = adapted(ReportCommand)
Rules = adapted(RulesCommand)
Sweep = adapted(SweepCommand)
Tune = adapted(TuneCommand)
Verify = adapted(VerifyCommand)
Watch = adapted(WatchCommand)

prepare_scrapy(sys.argv)
