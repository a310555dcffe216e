"""Files become pages, and pages become quotes."""
