"""Sites that tests crawl: real documentation behind nginx, and a server that misbehaves."""
