"""Regular expressions that are compiled when they are first used.

To compile one takes Python some half a millisecond. The package has some six hundred, of which a command uses few, and
compiled all where they are imported they took a sixth of the time in which a command starts.
"""

import re
from typing import Any, cast


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    r"""Return what `re.compile` does, compiled when it is first used. Raises `re.error` then, not now.

    >>> lazy_regex(r"\d+").findall("3 of 12")
    ['3', '12']
    """
    return cast("re.Pattern[str]", LazyRegex(pattern, flags))


class LazyRegex:
    """Stands for a compiled pattern, and has all that one has once it was used; made by `lazy_regex`."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Called for what it lacks, so once: its methods are those of the compiled pattern from then on."""
        if name.startswith("__"):  # what copying and pickling look for, and a compiled pattern may not have
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update((each, getattr(compiled, each)) for each in dir(compiled) if not each.startswith("__"))
        return getattr(compiled, name)
