"""Regular expressions of most hosts, ports and paths of real links, which no rule changes.

Many others are left out only because a rule *might* apply to them: an escape, a port that may be
the default, a segment that begins with a dot or could hold a session, a last label that could be a
number.
"""

from __future__ import annotations

_NAME = r"(?![^/:]{254})(?:[a-z0-9_][a-z0-9_-]{0,62}\.)*[a-z][a-z0-9_-]{0,62}"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
HOST = rf"(?:{_NAME}|{_BYTE}(?:\.{_BYTE}){{3}})"
PORT = r"(?::(?!80/|443/)(?:[1-5][0-9]{4}|[1-9][0-9]{0,3}))?"
PATH = r"(?:/(?!\.)[A-Za-z0-9._~!$&'*+,=:@-]*+)++"
