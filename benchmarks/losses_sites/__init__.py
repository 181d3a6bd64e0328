"""Made sites, each of which once made a crawl lose pages, keep them twice or stand still."""
