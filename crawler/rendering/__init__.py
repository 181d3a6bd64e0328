"""Render pages in Chromium, which has no network of its own: the crawler answers each request."""
