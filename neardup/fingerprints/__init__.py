"""Compute what stands for a text: a SimHash, a MinHash signature or a digest."""
