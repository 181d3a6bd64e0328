"""Mirrors made side by side: wget, httrack, ours with and without reading text."""
