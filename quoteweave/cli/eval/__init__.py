"""The commands of `quoteweave eval`, a file each, imported when they are run."""
