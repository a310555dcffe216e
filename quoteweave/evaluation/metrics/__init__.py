"""One metric a file: its definition, its source, its rows."""
