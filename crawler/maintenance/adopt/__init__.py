"""Corpora: archives of whole crawls, read for Spark, and crawls that begin with what one holds."""
