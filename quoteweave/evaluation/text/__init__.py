"""Read responses: strip thinking, parse citations and titles, split sentences and claims, extract short answers."""
