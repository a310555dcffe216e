"""How many text and how many image quotes stand together (MMDocRAG, arXiv 2505.16470, section 4.1 and appendix C.3)."""

from pydantic import Field

from quoteweave.core.records import Record


class Split(Record):
    """How many quotes of each kind."""

    texts: int = Field(ge=0)
    images: int = Field(ge=0)


TOP_10 = Split(texts=7, images=3)
C15 = Split(texts=10, images=5)
C20 = Split(texts=12, images=8)
