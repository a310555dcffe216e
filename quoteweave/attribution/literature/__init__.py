"""Papers, and the sources in which they are searched for and read."""
