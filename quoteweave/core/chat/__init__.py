"""What all chat models share: prompts, streams, and what tokens cost."""
