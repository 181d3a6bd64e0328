"""Made pages of many things on few templates, of which the maker knows which are copies."""
