"""Regular expressions that are compiled when they are first used.

Python takes about half a millisecond to compile one. The package has some six hundred, of which a command uses few;
compiling all of them on import took a sixth of a command's start-up time.
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
    """Stands for a compiled pattern, and has all its attributes once it was used; made by `lazy_regex`."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Called for a missing attribute, so only once: after that, its methods are those of the compiled pattern."""
        if name.startswith("__"):  # copying and pickling look these up, and a compiled pattern may lack them
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        attributes = (attribute for attribute in dir(compiled) if not attribute.startswith("__"))
        self.__dict__.update((attribute, getattr(compiled, attribute)) for attribute in attributes)
        return getattr(compiled, name)
