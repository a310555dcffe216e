"""Terms of a field: what they are made of and also called, and the places where these are listed."""
