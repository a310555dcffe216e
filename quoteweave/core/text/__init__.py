"""Words of questions and quotes: tokens, what a question asks, citation marks, and where words stand on a page."""
