"""Read responses: strip thinking, parse citations, split sentences and claims, extract short answers."""
