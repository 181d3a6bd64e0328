"""Chromium without a head: pages as they are seen, from disk and from a server."""
