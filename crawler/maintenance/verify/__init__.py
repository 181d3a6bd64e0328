"""Does a crawl directory hold what it claims to hold, and what can be mended where not?"""
