"""Whether a secret can be found by trying: a short one, or one of a simple pattern."""

from itertools import pairwise

KEY_CHARACTERS = 32
"""Characters of a masking key: 128 bits, if they are hexadecimal digits drawn at random."""

_KEY_DIFFERENT = 8

_MOST_REPEATED = 16
"""Characters of the longest text whose repetition is looked for."""


def is_varied(text: str) -> bool:
    """Return whether the text is not one character, a repetition of a short text, or a run of neighbours."""
    for length in range(1, min(_MOST_REPEATED, len(text) // 2) + 1):
        if (text[:length] * (len(text) // length + 1))[: len(text)] == text:
            return False
    steps = {ord(second) - ord(first) for first, second in pairwise(text)}
    return len(text) <= 1 or not steps <= {-1, 0, 1}


def is_weak_key(key: str) -> bool:
    """Return whether the values of hashes by this key can be found by trying keys."""
    return len(key) < KEY_CHARACTERS or len(set(key)) < _KEY_DIFFERENT or not is_varied(key)
