"""Retrieve text and image quotes from documents, and weave them into answers in which every claim is cited.

    from quoteweave import Collection, ExtractiveGenerator, LexicalRetriever, Rag

    with Collection.open("my-collection") as collection:
        rag = Rag(LexicalRetriever(collection), ExtractiveGenerator())
        answer = rag.answer("By how much did petroleum products fall?")

Names load their module when they are first used: importing the package costs next to nothing.
"""

import lazy_loader

# The public names stand in __init__.pyi, for people, type checkers and this line alike.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
