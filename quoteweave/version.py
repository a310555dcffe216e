"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("quoteweave")
except PackageNotFoundError:  # imported from a folder that is not installed
    __version__ = "not installed"
