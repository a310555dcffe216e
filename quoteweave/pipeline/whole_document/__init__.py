"""Contexts for questions about a document as a whole: what it consists of, and what stands above its text."""
