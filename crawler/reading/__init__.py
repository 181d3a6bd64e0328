"""Reading: a page's bytes become links, text, metadata and a fingerprint, in worker processes."""
