"""Find secrets that are easy to guess: short ones, and ones with a simple pattern."""

from itertools import pairwise

KEY_CHARACTERS = 32
"""Characters of a masking key: 128 bits, if they are hexadecimal digits drawn at random."""

_KEY_DIFFERENT = 8

_MOST_REPEATED = 16
"""Characters of the longest text whose repetition `is_varied` detects."""


def is_varied(text: str) -> bool:
    """Return whether a text is neither one character, nor a repeated short text, nor a run of neighbours."""
    for length in range(1, min(_MOST_REPEATED, len(text) // 2) + 1):
        if (text[:length] * (len(text) // length + 1))[: len(text)] == text:
            return False
    steps = {ord(second) - ord(first) for first, second in pairwise(text)}
    return len(text) <= 1 or not steps <= {-1, 0, 1}


def is_weak_key(key: str) -> bool:
    """Return whether somebody who tries keys can find the values behind hashes by this key."""
    return len(key) < KEY_CHARACTERS or len(set(key)) < _KEY_DIFFERENT or not is_varied(key)
