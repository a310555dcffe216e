"""Options that commands share, and what they mean."""
