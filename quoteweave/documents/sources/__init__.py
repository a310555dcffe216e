"""Reads the parts of a file's page: its picture, its words with their boxes, its bookmarks."""
