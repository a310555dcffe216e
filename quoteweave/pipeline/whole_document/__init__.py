"""Adds to contexts what is known of whole documents: structure, front matter, and which others say as much."""
