"""Calls that each do one task from settings: adding documents, building indexes, searching, answering."""
