"""Learn which parts of a site's URLs do not matter, from the contents of its pages."""
