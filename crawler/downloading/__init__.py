"""Downloading: what an answer may cost before it is a page, and whom a crawl may ask."""
