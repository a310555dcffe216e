"""An agent of a language model that searches for, reads and selects the paper that an excerpt cites (CiteAgent).

CiteME (Press et al., NeurIPS 2024, arXiv 2407.12861), sections 3 and 4: in each step the model gives a rationale and
one action, and is shown what came of it. Prompts, the demonstration and all code are our own.
"""
