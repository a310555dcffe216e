"""Rules that find where a sentence says something else than what it cites, such as the contrary."""
