"""Learn which URLs are the same page, try the rules, and revoke wrong ones."""
