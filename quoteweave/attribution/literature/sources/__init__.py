"""Sources of papers behind one protocol: Semantic Scholar, OpenAlex, a collection of one's own."""
