"""Show pages once their scripts have run, in a Chromium without network, within bounds."""
