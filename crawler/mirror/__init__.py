"""A site as files that open from disk: which file stands for a URL, and how it is written."""
