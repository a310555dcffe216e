"""Records, protocols and errors that every other package uses."""
