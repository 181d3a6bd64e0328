"""The layers that decide on a place of a crawl."""

LAYERS = (
    "new",
    "too_short",
    "changed",
    "same_template",
    "payload",
    "text",
    "simhash",
    "candidate",
    "contained",
)
"""The layers, by number; the first four keep a place."""

NEW, TOO_SHORT, CHANGED, SAME_TEMPLATE, PAYLOAD, TEXT, SIMHASH, CANDIDATE, CONTAINED = range(
    len(LAYERS)
)

KEEPING = LAYERS[:PAYLOAD]
"""The layers that keep a place; the others drop it."""
