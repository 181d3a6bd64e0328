"""Share what commands need: options, errors in one line, and escaped output."""
