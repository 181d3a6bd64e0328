"""Judge a corpus under many parameters by near lists, and score verdicts by labelled pairs."""
