"""numpy, imported when it is first used: importing it takes longer than many commands, which need no arrays."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["np"]


class LazyModule:
    """Stands for a module, which is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Called for a missing attribute, so only once for each name: it is then kept here."""
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")
