"""Read the text of documents that are no HTML, such as PDF, Word, EPUB, Markdown and feeds."""
