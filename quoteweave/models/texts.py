"""Texts as tokenizers take them."""


def well_formed(text: str) -> str:
    """The text with lone surrogates, which tokenizers refuse, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
