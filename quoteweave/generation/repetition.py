"""Models that get stuck, and say the same over and over until something stops them."""

REPEATS = "The model repeats itself: the answer ends with the same words over and over."
TIMES = 5
"""The same, at least so often, one after another; what is cut off at the end counts."""
LEAST = 300
"""Characters that the repetition takes at least, so that no row of dashes or zeros is one."""
_LONGEST = 2000
_SEED = 40


def repeats(text: str) -> bool:
    """Whether the text ends with a piece of at most 2000 characters that stands there `TIMES` times in a row."""
    tail = text[-TIMES * _LONGEST :]
    if len(tail) < LEAST:
        return False
    seed = tail[-_SEED:]
    place = tail.rfind(seed, 0, -1)
    while place >= 0 and (period := len(tail) - _SEED - place) <= _LONGEST:
        run = tail[-max(TIMES * period, LEAST) :]
        if len(run) >= TIMES * period and run[period:] == run[:-period]:
            return True
        place = tail.rfind(seed, 0, place + _SEED - 1)
    return False
