"""What came over the network, as WARC files: written, indexed, packed and read again."""
