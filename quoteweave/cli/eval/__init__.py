"""The commands of `quoteweave eval`, one file each, which are imported when they are run."""
