"""Papers that sources found, fetched, parsed and kept in a collection."""
