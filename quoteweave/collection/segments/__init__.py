"""The counted words of documents, in immutable files that the lexical index searches."""
