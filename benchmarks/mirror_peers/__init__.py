"""Mirrors made side by side: wget, httrack, and ours."""
