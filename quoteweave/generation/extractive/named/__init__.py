"""Check by rule whether a statement names what a question asks for: a person, a place, or the name of something."""
