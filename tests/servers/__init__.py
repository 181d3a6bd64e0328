"""Servers that tests start as processes of their own, to stop, kill and start again."""
