"""Stores of the kept texts, and the means to keep the index in step with them."""
