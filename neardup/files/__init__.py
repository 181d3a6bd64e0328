"""Files that survive a crash: written whole, sealed by checksums, extended batch by batch."""
