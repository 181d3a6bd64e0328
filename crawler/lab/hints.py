"""One sentence for each parameter that the lab shows, which starts from the user's question."""

from __future__ import annotations

HINTS = {
    "min_similarity": "Are too many pages called duplicates? Raise this: near texts repeat each"
    " other from this share of common shingles on.",
    "max_distance": "Do texts that differ in a few words count as new? Raise this: fingerprints"
    " that differ in at most this many bits are a match.",
    "min_words": "Are short pages called duplicates of each other? Raise this: texts of fewer"
    " words repeat only what is equal.",
    "verify": "Does a match of fingerprints drop texts that are not alike? Leave this on: a match"
    " counts only where the texts themselves are similar enough.",
    "compare_names": "Do products or persons on one template get lost? Leave this on: near texts"
    " of pages with other names are both kept.",
    "ignore_boilerplate": "Are short pages dropped because menus and footers are alike? Leave this"
    " on: what the site repeats on many pages does not count.",
    "drop_contained": "Are pages kept that stand in full on another page? Turn this on: a page"
    " that is a part of a kept one is dropped.",
    "method": "Would equal texts alone be enough to drop pages? Try Exact here, which looks for no"
    " near texts; a crawl always uses SimHash.",
    "features": "Is every text near every other one? Try other pieces of text under Threshold:"
    " this says what fingerprints are made of, as unit, size and weight.",
    "unit": "Has the site's language no spaces between words? Try Characters: fingerprints are"
    " made of pieces of so many words or characters.",
    "size": "Do texts with the same words in another order count as near? Raise this: so many"
    " units in a row make one piece.",
    "weight": "Do words that stand in a text a hundred times decide everything? Choose Set, which"
    " counts each piece once; counts weigh it as often as it stands there.",
    "distances": "Do you look for the pairs at the border? Choose the distances around"
    " max_distance: only pairs so many bits apart are shown.",
}
"""Hints by the name of the parameter: a question, and one sentence that says what to do."""
