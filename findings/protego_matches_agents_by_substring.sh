#!/usr/bin/env bash
# Protego compares a group's whole User-agent line with a crawler's whole user agent, as a substring.
#
# Guess: of a group and of a crawler only the product token counts (RFC 9309, 2.2.1): a group "crawl-bot (our
#   archive)" is for crawl-bot, and a URL in the comment of a crawler's user agent chooses no group.
# What happens: the group with a comment applies to nobody but a crawler that sends this comment too, so that a
#   crawler which the site forbids goes on; and a crawler that names a page about itself, as is polite, falls under
#   every group whose name stands somewhere in that URL, here "example".
# Why it matters: Scrapy's default parser of robots.txt is Protego, and it is handed the whole USER_AGENT. Who
#   wants the standard's rule hands the product token alone, and cuts the lines of the file likewise.
# Version: Protego 0.6.0, Python 3.11. Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'protego==0.6.0' 2>/dev/null
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from protego import Protego

ALL = "\nUser-agent: *\nAllow: /\n"
AGENT = "crawl-bot/1.0 (+https://www.example.org/about)"


def may(group: str, agent: str) -> bool:
    rules = Protego.parse(f"User-agent: {group}\nDisallow: /\n{ALL}")
    return rules.can_fetch("https://site.test/page", agent)


print("Protego", version("protego"))
seen = {
    "group 'crawl-bot', agent with a URL": may("crawl-bot", AGENT),
    "group 'crawl-bot (our archive)', agent with a URL": may("crawl-bot (our archive)", AGENT),
    "group 'crawl-bot (our archive)', agent 'crawl-bot'": may("crawl-bot (our archive)", "crawl-bot"),
    "group 'example', agent with a URL": may("example", AGENT),
    "group 'other', agent with a URL": may("other", AGENT),
}
for case, allowed in seen.items():
    print(f"{case}: {'may fetch' if allowed else 'forbidden'}")
assert list(seen.values()) == [False, True, True, False, True], "the behaviour has changed"
PYTHON
