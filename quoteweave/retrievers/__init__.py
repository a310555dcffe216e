"""Questions become ranked quotes.

`chat_models` opens chat models by name for every layer above: for expanding and reranking, for answers, and for checks.
"""
