"""Turn responses into judged pages and further requests."""
