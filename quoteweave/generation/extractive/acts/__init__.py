"""Which act, value or thing a question asks about, who did it, and whether a statement is about the same."""
