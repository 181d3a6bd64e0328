"""Corpora on Spark: what repeats what in files that no single machine judges one by one."""
