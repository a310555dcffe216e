"""Questions that follow others, rewritten so that they can be understood alone."""
