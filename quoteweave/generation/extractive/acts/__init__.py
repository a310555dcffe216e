"""Of which act a question asks, who did it, and whether a statement tells of that one."""
