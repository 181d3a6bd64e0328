"""A corpus on all cores of one machine, in the tables of ``neardup.spark``."""
