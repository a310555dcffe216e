"""Files written whole, JSON Lines, and pictures within limits."""
