"""Find the main content of a page, keep it as XML, and write it as text."""
