"""Read pages in worker processes: links, text, metadata and fingerprint from bytes."""
