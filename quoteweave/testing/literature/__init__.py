"""A made library of papers, and excerpts whose sources are known, like those that CiteME has of real papers.

The 500 papers are on twenty topics. They are written from templates, so that no finding in them is real, and cite each
other. Each of the 60 excerpts says what one of the papers found, partly in other words than the paper.
"""

from quoteweave.testing.literature.library import make_library, write_citeme
from quoteweave.testing.literature.records import Finding, MadeExcerpt, MadeLibrary, MadePaper

__all__ = ["Finding", "MadeExcerpt", "MadeLibrary", "MadePaper", "make_library", "write_citeme"]
