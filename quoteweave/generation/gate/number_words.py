"""Numbers written out in English: `three`, `forty-one`, `two hundred and five thousand`."""

import re

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_VALUES = {word: value for value, word in enumerate(f"{_ONES} seventeen eighteen nineteen".split())}
_TENS_WRITTEN = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * n for n, word in enumerate(_TENS_WRITTEN.split(), 2)}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), 1)}

_SMALL = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(list(_VALUES)[1:10])}))?|{'|'.join(reversed(_VALUES))})"
_HUNDREDS = rf"(?:(?:a|{_SMALL}) hundred(?: and {_SMALL})?|{_SMALL})"
NUMBER_WORDS = rf"(?:(?:{_HUNDREDS}|a) (?:{'|'.join(_LARGE)})(?: (?:and )?{_HUNDREDS})?|{_HUNDREDS})"
"""A pattern of one whole number in words, lower case, one blank between words."""


def value_of(written: str) -> int:
    """The number that a match of `NUMBER_WORDS` says."""
    total = current = 0
    for word in re.split("[- ]", written):
        if word == "hundred":
            current = (current or 1) * 100
        elif word in _LARGE:
            total += (current or 1) * _LARGE[word]
            current = 0
        else:
            current += _VALUES.get(word, _TENS.get(word, 0))
    return total + current
