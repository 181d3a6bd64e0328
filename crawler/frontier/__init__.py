"""Store the queue of requests and the set of those already seen."""
