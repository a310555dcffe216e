"""Generate cited answers from a question and its context, and check them."""
