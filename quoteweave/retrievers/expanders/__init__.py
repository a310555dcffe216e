"""Questions become several that are easier to find answers to; each class meets `core.protocols.Expander`."""
