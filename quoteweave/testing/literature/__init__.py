"""A made library of papers, and excerpts whose sources are known, as CiteME has them of real papers.

The 500 papers are of twenty topics; they are written from templates, so that no finding in them is real, and cite each
other. Each of the 60 excerpts says what one of them found, partly in other words than it does.
"""

from quoteweave.testing.literature.library import make_library, write_citeme
from quoteweave.testing.literature.records import Finding, MadeExcerpt, MadeLibrary, MadePaper

__all__ = ["Finding", "MadeExcerpt", "MadeLibrary", "MadePaper", "make_library", "write_citeme"]
