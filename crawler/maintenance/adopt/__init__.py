"""Read archives of whole crawls for Spark, and begin crawls with the pages of a corpus."""
