"""Of which act, value or thing a question asks, who did it, and whether a statement tells of that one."""
