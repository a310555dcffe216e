"""Rules by which a sentence says the contrary of what it cites, or says it in other words."""
