"""Sources of papers behind one protocol: Semantic Scholar, OpenAlex, one's own collection; and how they are asked."""
