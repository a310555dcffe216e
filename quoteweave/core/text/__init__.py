"""Words of questions and quotes: tokens, what a question asks, citation marks, and the places of words on a page."""
