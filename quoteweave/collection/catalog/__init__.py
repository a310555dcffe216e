"""The catalogue: a SQLite file of documents, pages with their words, and quotes."""
