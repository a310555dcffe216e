"""The commands, one file each, which are imported when they are run."""
