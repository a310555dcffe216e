"""What all chat models share: prompts, streams, tools, and what tokens cost."""
