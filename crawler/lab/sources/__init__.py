"""Sources of the lab's pages: crawl directories, files of texts, archives."""
