"""Indexes that find stored fingerprints and signatures near a given one."""
