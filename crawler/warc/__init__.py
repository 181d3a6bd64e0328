"""Write, index, pack and read WARC files."""
