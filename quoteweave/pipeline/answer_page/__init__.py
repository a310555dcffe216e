"""Answers as self-contained HTML pages, which show the cited pages with the cited boxes."""
