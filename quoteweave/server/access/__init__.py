"""Who may do what: keys, sessions, where requests come from, and limits."""
