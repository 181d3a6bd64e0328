"""Texts as Hypothesis chooses them: few originals, and most texts near one of them."""

import random

from hypothesis import strategies as st

from tests.neardup.texts import changed, prose


def shuffled(text: str, seed: int) -> str:
    """Return the text with the sentences of its second half in another order."""
    words = text.split()
    half = len(words) // 2
    sentences = [words[at : at + 8] for at in range(half, len(words), 8)]
    random.Random(seed).shuffle(sentences)
    return " ".join([*words[:half], *(word for sentence in sentences for word in sentence)])


near_texts = st.one_of(
    st.sampled_from(["", "☃", "short", "Short "]),
    st.builds(
        changed,
        st.builds(prose, st.integers(0, 2), st.sampled_from([25, 300])),
        st.integers(0, 9),
        st.integers(0, 3),
    ),
)
