"""Published figures, computed again from the files that were published with them, to the printed decimal."""
