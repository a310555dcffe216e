"""Building and executing runs: what each command of `quoteweave` does, as one call with records in and records out."""
