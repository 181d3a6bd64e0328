"""Tell what of a text its server changes although the text says the same.

``answers`` sets aside what an answer owes to the time at which it was made, by that time;
``phrases`` knows the wordings of counters, ages and dates, where two texts are compared; ``slots``
finds words of names that change from visit to visit.
"""
