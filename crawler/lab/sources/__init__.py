"""Where the lab's pages come from: crawl directories, files of texts, archives."""
