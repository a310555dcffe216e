"""A question and its context become a cited answer."""
