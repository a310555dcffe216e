"""Parsing of files into pages and quotes."""
