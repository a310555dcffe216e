"""Formats without pages of their own (HTML, Markdown, plain text) are set on virtual pages."""
