"""Drafts that somebody has written, cited: their sentences, marks, references and entries."""
