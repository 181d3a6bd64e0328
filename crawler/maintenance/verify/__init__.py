"""Verify and repair a crawl directory."""
