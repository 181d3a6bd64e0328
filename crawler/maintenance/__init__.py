"""Report, verify, merge, rejudge and adopt crawl directories offline."""
