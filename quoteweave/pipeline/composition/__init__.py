"""Collections, indexes, searches and answers, each composed from settings by one call."""
